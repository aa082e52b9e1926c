import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { errorOf } from "../world.ts";
import { type Member, openTeamDesk, share, URL } from "./team-desk.ts";

async function open() {
  const desk = await openTeamDesk();
  const ann = await desk.addPerson("ann", "admin");
  await join(ann);
  return { desk, ann };
}

async function join(member: Member): Promise<void> {
  await member.run("join", { args: [URL], options: { "token-file": member.tokenFile } });
}

describe("memdir team", () => {
  it("says who one is, who else is there, and what lies where", async () => {
    const { desk, ann } = await open();
    const bob = await desk.addPerson("bob", "reader");
    await join(bob);
    share(ann.world, "a.md", "x");
    await ann.run("sync");
    const { answers } = await ann.run("team", { json: true });
    expect(answers[0]).toMatchObject({
      url: URL,
      person: "ann",
      role: "admin",
      memories: { here: 1, there: 1 },
      conflicts: [],
      people: [{ name: "ann" }, { name: "bob", role: "reader" }],
    });
    expect(Date.parse(answers[0].lastSync)).not.toBeNaN();
    const seen = await bob.run("team");
    expect(seen.printed.join("\n")).toContain("you are bob, reader");
    expect(seen.printed.join("\n")).not.toContain("ann");
  });

  it("takes people in with a role, and changes it", async () => {
    const { ann } = await open();
    const added = await ann.run("team", { args: ["add", "Bob Ray"], json: true });
    expect(added.answers).toEqual([{ person: "Bob Ray", role: "writer", repository: null }]);
    await ann.run("team", { args: ["add", "cem"], options: { role: "reader", repository: "app" } });
    await ann.run("team", { args: ["role", "Bob Ray"], options: { role: "none" } });
    const { answers } = await ann.run("team", { json: true });
    expect(answers[0].people).toEqual([
      expect.objectContaining({ name: "ann", role: "admin" }),
      expect.objectContaining({ name: "Bob Ray", role: null }),
      expect.objectContaining({ name: "cem", role: null, repositories: [{ repository: "app", role: "reader" }] }),
    ]);
    expect((await errorOf(ann.run("team", { args: ["add", "cem"] }))).code).toBe("conflict");
  });

  it("writes a token to a file of its own, and nowhere else", async () => {
    const { ann } = await open();
    await ann.run("team", { args: ["add", "bob"] });
    const file = path.join(ann.world.top, "bob-token");
    const made = await ann.run("team", { args: ["token", "bob"], options: { "token-file": file, days: "30" } });
    const token = fs.readFileSync(file, "utf8").trim();
    expect(token.length).toBeGreaterThan(3);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect([...made.printed, ...made.warned].join()).not.toContain(` ${token} `);
    const again = errorOf(ann.run("team", { args: ["token", "bob"], options: { "token-file": file } }));
    expect(await again).toMatchObject({ code: "conflict" });
    const nobody = path.join(ann.world.top, "nobody-token");
    await errorOf(ann.run("team", { args: ["token", "nobody"], options: { "token-file": nobody } }));
    expect(fs.existsSync(nobody)).toBe(false);
    const { answers } = await ann.run("team", { args: ["tokens"], json: true });
    const { id } = answers[0].find((row: { person: string }) => row.person === "bob");
    expect((await ann.run("team", { args: ["revoke", id] })).printed.join()).toContain("not valid any more");
    const after = await ann.run("team", { args: ["tokens"] });
    expect(after.printed.find((line) => line.includes("bob"))).toContain("revoked");
  });

  it("shows versions, redacts one, searches, and tells who did what", async () => {
    const { ann } = await open();
    share(ann.world, "deploys.md", "Releases are cut on Tuesdays.");
    await ann.run("sync");
    share(ann.world, "deploys.md", "Releases are cut on Fridays.");
    await ann.run("sync");
    const found = await ann.run("team", { args: ["search", "releases", "cut"], json: true });
    expect(found.answers[0]).toEqual([expect.objectContaining({ repository: "app", path: "deploys.md" })]);
    expect((await ann.run("team", { args: ["search", "zebra"] })).code).toBe(1);
    const { answers } = await ann.run("team", { args: ["versions", "deploys"], json: true });
    expect(answers[0]).toMatchObject({ path: "deploys.md", versions: [{ author: "ann" }, { author: "ann" }] });
    const [{ revision }] = answers[0].versions;
    await ann.run("team", { args: ["redact", "deploys", revision] });
    const after = await ann.run("team", { args: ["versions", "deploys.md"], json: true });
    expect(after.answers[0].versions[0].bytes).toBeNull();
    const audit = await ann.run("team", { args: ["audit"], options: { limit: "100" }, json: true });
    const actions = audit.answers[0].map((row: { action: string }) => row.action);
    expect(actions).toEqual(expect.arrayContaining(["write", "search", "redact"]));
    expect(JSON.stringify(audit.answers)).not.toContain("Tuesdays");
  });

  it("restores a version, and exports everything into an empty folder", async () => {
    const { ann } = await open();
    share(ann.world, "deploys.md", "Releases are cut on Tuesdays.");
    await ann.run("sync");
    share(ann.world, "deploys.md", "Releases are cut on Fridays.");
    share(ann.world, "folder/other.md", "Another one.");
    await ann.run("sync");
    const { answers } = await ann.run("team", { args: ["versions", "deploys"], json: true });
    const [{ revision }] = answers[0].versions;
    const restored = await ann.run("team", { args: ["restore", "deploys", revision], json: true });
    expect(restored.answers[0]).toMatchObject({ path: "deploys.md", restored: revision });
    const redacted = await ann.run("team", { args: ["redact", "deploys", revision] });
    expect(redacted.printed.join()).toContain(`the same text at ${restored.answers[0].revision}`);
    expect((await errorOf(ann.run("team", { args: ["versions", "gone"] }))).message).toContain("memdir team audit");
    await ann.run("sync");
    const folder = path.join(ann.world.top, "out");
    await ann.run("team", { args: ["export", folder] });
    expect(fs.readFileSync(path.join(folder, "deploys.md"), "utf8")).toContain("Tuesdays");
    expect(fs.readFileSync(path.join(folder, "folder/other.md"), "utf8")).toContain("Another");
    expect((await errorOf(ann.run("team", { args: ["export", folder] }))).code).toBe("conflict");
    expect((await errorOf(ann.run("team", { args: ["restore", "deploys", "r999"] }))).code).toBe("not-found");
  });

  it("removes a person with everything that they can do, and a member's status is not noted as refused", async () => {
    const { desk, ann } = await open();
    const bob = await desk.addPerson("bob", "writer");
    await join(bob);
    await bob.run("team");
    const audit = await ann.run("team", { args: ["audit"], json: true });
    expect(JSON.stringify(audit.answers)).not.toContain("denied");
    await ann.run("team", { args: ["remove", "bob"] });
    expect((await errorOf(bob.run("team"))).message).toContain("revoked");
    expect((await errorOf(ann.run("team", { args: ["remove", "bob"] }))).code).toBe("not-found");
    const tokens = await ann.run("team", { args: ["tokens"], json: true });
    expect(tokens.answers[0].find((row: { person: string }) => row.person === "bob").revoked).not.toBeNull();
  });

  it("lets only admins administrate", async () => {
    const { desk } = await open();
    const bob = await desk.addPerson("bob", "writer");
    await join(bob);
    for (const args of [["add", "x"], ["token", "ann"], ["audit"], ["repository", "x"], ["revoke", "1"]]) {
      const { code, message } = await errorOf(bob.run("team", { args, options: { "token-file": "t" } }));
      expect(["network", "not-found"]).toContain(code);
      expect(message).not.toBe("");
    }
    const own = await bob.run("team", { args: ["tokens"], json: true });
    expect(own.answers[0].map(({ person }: { person: string }) => person)).toEqual(["bob"]);
  });

  it.each([
    [["nonsense"], {}, "there is no `memdir team nonsense`"],
    [["add"], {}, "usage: memdir team add PERSON"],
    [["revoke", "1", "2"], {}, "usage: memdir team revoke ID"],
    [["add", "x"], { role: "king" }, '--role must be one of reader, writer, admin, none, not "king"'],
    [["token", "x"], {}, "--token-file"],
    [["token", "x"], { "token-file": "t", days: "0" }, "--days must be a whole number from 1 to 3650"],
    [["role", "x"], {}, "which role"],
    [["versions", "../../etc/passwd"], {}, "refused"],
  ])("refuses %j %j", async (args, options, words) => {
    const { ann } = await open();
    expect((await errorOf(ann.run("team", { args, options }))).message).toContain(words);
  });
});
