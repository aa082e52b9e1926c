import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { type Inbox, openInbox } from "../../src/learn/inbox.ts";
import type { Proposal } from "../../src/learn/proposal.ts";
import { errorOf, mainOf, makeWorld, type World } from "../world.ts";
import { propose } from "./proposals.ts";

let world: World;
let inbox: Inbox;

beforeEach(async () => {
  world = makeWorld();
  inbox = await openAnother();
});

async function openAnother(): Promise<Inbox> {
  const directory = mainOf(await world.open());
  return openInbox(directory, { now: () => world.now, log: (message) => world.logged.push(message) });
}

async function add(more: Partial<Proposal> = {}): Promise<string> {
  const added = await inbox.add(propose(more));
  if (!("id" in added)) throw new Error(JSON.stringify(added));
  return added.id;
}

const names = () => inbox.list().map(({ name }) => name);

describe("waiting", () => {
  it("a proposal is a private file of its own, and comes back as it was", async () => {
    expect(inbox.list()).toEqual([]);
    const id = await add();
    expect(inbox.list()).toEqual([propose({ id })]);
    expect(inbox.find(id.slice(0, 4))).toEqual(propose({ id }));
    expect(inbox.find(id.toUpperCase())?.id).toBe(id);
    expect(fs.statSync(world.path(".memdir", "inbox", `${id}.json`)).mode & 0o777).toBe(0o600);
    expect(fs.statSync(world.path(".memdir", "inbox")).mode & 0o777).toBe(0o700);
    expect(world.files()).toEqual([]);
    expect(fs.readdirSync(world.path(".memdir", "tmp"))).toEqual([]);
  });

  it("oldest first; an unclear beginning of an id is said to be so", async () => {
    await add({ name: "b", body: "Two.", at: "2026-03-02T00:00:00.000Z" });
    await add({ name: "a", body: "One.", at: "2026-03-01T00:00:00.000Z" });
    expect(names()).toEqual(["a", "b"]);
    for (let i = 0; i < 17; i++) await add({ body: `Number ${i}.` });
    // Of 19 ids two begin with the same digit.
    const digits = inbox.list().map(({ id }) => id[0] as string);
    const twice = digits.find((digit, i) => digits.indexOf(digit) !== i) as string;
    expect(() => inbox.find(twice)).toThrow(/proposals begin with .*; give a longer prefix of the id/);
    for (const odd of ["", "zz", "../x", "0".repeat(40)]) expect(inbox.find(odd)).toBeNull();
  });

  it("the same content is one proposal, whatever it is called", async () => {
    const id = await add();
    expect(await inbox.add(propose())).toEqual({ duplicate: id });
    const again = propose({ name: "retry count", body: "**Jobs** are  retried three times", session: "s2" });
    expect(await inbox.add(again)).toEqual({ duplicate: id });
    expect("id" in (await inbox.add(propose({ body: "Jobs are retried four times." })))).toBe(true);
    expect("id" in (await inbox.add(propose({ type: "reference" })))).toBe(true);
    expect("id" in (await inbox.add(propose({ action: "forget", file: "project_retries.md" })))).toBe(true);
    expect(inbox.list()).toHaveLength(4);
  });

  it("a person's change stays under the same id, and what was proposed first is still known", async () => {
    const id = await add();
    const amended = await inbox.amend(id, { body: "Jobs are retried five times.", type: "reference" });
    expect(amended).toEqual(propose({ id, body: "Jobs are retried five times.", type: "reference" }));
    expect(inbox.list()).toEqual([amended]);
    expect(await inbox.add(propose())).toEqual({ duplicate: id });
    expect(await inbox.add(propose({ body: amended.body, type: "reference" }))).toEqual({ duplicate: id });
    expect((await errorOf(inbox.amend(id, { name: " " }))).code).toBe("usage");
    expect((await errorOf(inbox.amend("0".repeat(12), {}))).code).toBe("not-found");
  });
});

describe("decided", () => {
  it("accepted ones are taken out and may be proposed again", async () => {
    const id = await add();
    expect(await inbox.accept(id)).toEqual(propose({ id }));
    expect(inbox.list()).toEqual([]);
    expect((await errorOf(inbox.accept(id))).message).toMatch(/there is no proposal .*; `memdir inbox`/);
    expect(await inbox.add(propose())).toEqual({ id });
  });

  it("rejected ones do not come back, as proposed or as amended, in this process or another", async () => {
    const id = await add();
    await inbox.amend(id, { body: "Jobs are retried five times." });
    await inbox.reject(id);
    const other = await openAnother();
    for (const again of [propose(), propose({ name: "x", body: "jobs are retried FIVE times" })]) {
      expect(await other.add(again)).toEqual({ rejectedBefore: true });
      expect(other.wasRejected(again)).toBe(true);
    }
    expect(other.wasRejected(propose({ body: "Something else." }))).toBe(false);
    expect(inbox.list()).toEqual([]);
    // Only what it takes to know them again is kept.
    expect(fs.readFileSync(world.path(".memdir", "inbox", "rejected.jsonl"), "utf8")).not.toContain("retried");
    expect(fs.statSync(world.path(".memdir", "inbox", "rejected.jsonl")).mode & 0o777).toBe(0o600);
  });

  it("a torn or strange line in the list of rejected ones costs only itself", async () => {
    const id = await add();
    fs.writeFileSync(world.path(".memdir", "inbox", "rejected.jsonl"), 'null\n[]\n{"ids":7}\n{"ids":["');
    await inbox.reject(id);
    expect(await inbox.add(propose())).toEqual({ rejectedBefore: true });
  });
});

describe("bounded", () => {
  it("over 200 the oldest of the least trusted go, with a log; a weak one does not push out a strong one", async () => {
    await add({ name: "strong" });
    const folder = world.path(".memdir", "inbox");
    for (let i = 0; i < 199; i++) {
      const id = i.toString(16).padStart(12, "0");
      const trust = i < 2 ? "document" : "user";
      const at = `2026-02-0${i < 2 ? 2 - i : 3}T00:00:00.000Z`;
      fs.writeFileSync(
        `${folder}/${id}.json`,
        JSON.stringify(propose({ id, trust, at, name: `n${i}`, body: `b${i}` })),
      );
    }
    await add({ name: "new", body: "New." });
    expect(inbox.list()).toHaveLength(200);
    expect(names()).not.toContain("n1");
    expect(names()).toContain("n0");
    expect(world.logged.join("\n")).toMatch(/more than 200 proposals are waiting; dropped 000000000001 \("n1"\)/);
    await add({ name: "newer", body: "Newer.", trust: "tool" });
    expect(names()).not.toContain("n0");
    expect(await inbox.add(propose({ name: "weak", body: "Weak.", trust: "document" }))).toEqual({ full: true });
    expect(names()).toEqual(expect.arrayContaining(["strong", "new", "newer"]));
    expect(inbox.list()).toHaveLength(200);
  });

  it("refuses what is no proposal; odd characters come back as they were", async () => {
    for (const more of [
      { name: "" },
      { body: " ", description: "" },
      { type: "gossip" as never },
      { trust: "god" as never },
    ])
      expect((await errorOf(inbox.add(propose(more)))).code).toBe("usage");
    const id = await add({ body: "a\uD800b\r\nc\0d\ufeff" });
    expect(inbox.find(id)?.body).toBe("a\uD800b\r\nc\0d\ufeff");
    expect(inbox.list()).toHaveLength(1);
  });

  it("refuses a book, and a secret wherever it is; its value is nowhere", async () => {
    expect((await errorOf(inbox.add(propose({ body: "x".repeat(70_000) })))).code).toBe("usage");
    const key = `AKIA${"IOSFODNN7QQQQQQ2"}`;
    const id = await add();
    for (const more of [
      { body: `The key is ${key}` },
      { name: key },
      { when: [key] },
      { reason: key },
      { message: key },
    ])
      expect((await errorOf(inbox.add(propose(more)))).code).toBe("secret");
    expect((await errorOf(inbox.amend(id, { description: key }))).code).toBe("secret");
    expect(world.grep(key)).toEqual([]);
    expect(world.logged.join()).not.toContain(key);
  });
});

describe("hostile folder", () => {
  it("passes over what is no proposal", async () => {
    const id = await add();
    const put = (name: string, data: string | Uint8Array) =>
      fs.writeFileSync(world.path(".memdir", "inbox", name), data);
    put("000000000001.json", "{");
    put("000000000002.json", JSON.stringify(propose({ id: "000000000003" })));
    put("000000000004.json", new Uint8Array(200_000));
    put("000000000005.json", "");
    put("000000000006.json", JSON.stringify({ ...propose({ id: "000000000006" }), trust: "god" }));
    put("000000000007.json", "null");
    put("notes.json", JSON.stringify(propose()));
    fs.symlinkSync(world.path(".memdir", "inbox", `${id}.json`), world.path(".memdir", "inbox", "000000000008.json"));
    fs.mkdirSync(world.path(".memdir", "inbox", "000000000009.json"));
    if (process.platform !== "win32") execFileSync("mkfifo", [world.path(".memdir", "inbox", "00000000000a.json")]);
    expect(inbox.list().map((proposal) => proposal.id)).toEqual([id]);
    expect(world.logged.join("\n")).toContain("000000000006.json is not a proposal");
    expect(await inbox.add(propose({ body: "Another." }))).toMatchObject({ id: expect.any(String) });
  });

  it("neither reads nor writes through links", async () => {
    await add();
    const folder = world.path(".memdir", "inbox");
    const away = `${world.top}/away`;
    fs.renameSync(folder, away);
    fs.symlinkSync(away, folder);
    expect(inbox.list()).toEqual([]);
    expect((await errorOf(inbox.add(propose({ body: "Another." })))).code).toBe("outside");
    expect(fs.readdirSync(away)).toHaveLength(1);
    fs.unlinkSync(folder);
    fs.renameSync(away, folder);
    const [one] = inbox.list();
    fs.symlinkSync(`${world.top}/elsewhere`, `${folder}/rejected.jsonl`);
    expect((await errorOf(inbox.reject(one?.id as string))).code).toBe("outside");
    expect(fs.existsSync(`${world.top}/elsewhere`)).toBe(false);
    expect(inbox.list()).toHaveLength(1);
  });

  it("many at once: the same content stays one", async () => {
    const inboxes = await Promise.all(Array.from({ length: 6 }, openAnother));
    const added = await Promise.all(inboxes.map((one) => one.add(propose())));
    expect(added.filter((result) => "id" in result)).toHaveLength(1);
    expect(added.filter((result) => "duplicate" in result)).toHaveLength(5);
    expect(inbox.list()).toHaveLength(1);
  });
});
