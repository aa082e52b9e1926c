import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { readJournal } from "../../src/store/journal.ts";
import { makeConflictCopy } from "../../src/team/merge.ts";
import type { Remote } from "../../src/team/remote.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import type { SyncOptions, SyncResult } from "../../src/team/sync-pass.ts";
import { sha256 } from "../../src/text/hash.ts";
import { makeTemporary } from "../temporary.ts";
import { errorOf } from "../world.ts";
import { makeMemoryRemote } from "./memory-remote.ts";
import { directoryAt } from "./sync-world.ts";

const text = (words: string, name = "plan") => `---\nname: ${name}\ndescription: d\ntype: project\n---\n\n${words}\n`;

function makeTeam() {
  const remote = makeMemoryRemote();
  const top = makeTemporary("hostile", "memory");
  const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  const client = (name: string) => {
    const directory = directoryAt(path.join(top, name), clock);
    const at = (file: string) => path.join(directory.path, file);
    return {
      directory,
      at,
      write(file: string, content: string | Uint8Array): void {
        fs.mkdirSync(path.dirname(at(file)), { recursive: true });
        fs.writeFileSync(at(file), content);
      },
      read: (file: string) => fs.readFileSync(at(file), "utf8"),
      exists: (file: string) => fs.existsSync(at(file)),
      /** Everything that lies here as a memory, by its text. */
      texts: () =>
        fs
          .readdirSync(directory.path)
          .filter((file) => file.endsWith(".md") && file !== "MEMORY.md")
          .map((file) => fs.readFileSync(at(file), "utf8")),
      sync: (more: Partial<SyncOptions> = {}): Promise<SyncResult> =>
        syncDirectory({
          directory,
          remote: remote.open(name),
          who: name,
          findSecrets: () => [],
          ...more,
        }),
    };
  };
  return { remote, clock, top, ann: client("ann"), bob: client("bob") };
}

type Client = ReturnType<typeof makeTeam>["ann"];

async function shared() {
  const team = makeTeam();
  team.ann.write("plan.md", text("first"));
  team.ann.write("other.md", text("other", "other"));
  await team.ann.sync();
  await team.bob.sync();
  return team;
}

/** Every text that was ever on this machine: what lies there, and the before-images of its journal. */
function everKept(client: Client): string {
  const images = path.join(client.directory.path, ".memdir", "images");
  const kept = fs.existsSync(images)
    ? fs.readdirSync(images).map((one) => fs.readFileSync(path.join(images, one), "utf8"))
    : [];
  return [...client.texts(), ...kept].join("\n");
}

describe("a state that is not to be trusted", () => {
  const damages: Record<string, string> = {
    empty: "",
    truncated: '{"store":"memory","agreed":{"plan.md":{"hash":"',
    "no object": "[1,2,3]",
    null: "null",
    "of another remote": JSON.stringify({ store: "elsewhere", agreed: { "plan.md": { hash: "x", revision: "r1" } } }),
    "with other types": JSON.stringify({ store: "memory", agreed: [1], absent: 7, refused: "x" }),
    "with paths that lead out": JSON.stringify({
      store: "memory",
      agreed: { "../../etc/passwd": { hash: "x", revision: "r" }, "/abs.md": { hash: "x", revision: "r" } },
      absent: { "../../etc/passwd": "2000-01-01T00:00:00.000Z" },
      refused: { "../x.md": { side: "here", hash: "x", reason: "r", at: "never" } },
    }),
    "with a prototype": '{"store":"memory","agreed":{"__proto__":{"hash":"x","revision":"r"}},"__proto__":{"a":1}}',
    "that says all was agreed on and is gone": JSON.stringify({
      store: "memory",
      agreed: Object.fromEntries(
        Array.from({ length: 5000 }, (_, i) => [`gone-${i}.md`, { hash: sha256("x"), revision: "r1" }]),
      ),
      absent: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`gone-${i}.md`, "1970-01-01T00:00:00.000Z"])),
    }),
  };
  it.each(Object.entries(damages))("loses nothing on either side: %s", async (_, state) => {
    const { ann, bob, remote } = await shared();
    bob.write("plan.md", text("bob's edit"));
    bob.write("mine.md", text("bob's own", "mine"));
    fs.writeFileSync(bob.at(".memdir/sync.json"), state);
    for (let i = 0; i < 3; i++) await bob.sync();
    await ann.sync();
    const live = [...remote.live().values()].join("\n");
    for (const words of ["bob's edit", "bob's own", "other"]) expect(live).toContain(words);
    expect(everKept(bob)).toContain("bob's edit");
    expect(ann.texts().sort()).toEqual(bob.texts().sort());
  });

  it("that claims an agreement on what lies there removes nothing for others without their tombstone", async () => {
    const { bob, remote } = await shared();
    const state = JSON.parse(bob.read(".memdir/sync.json"));
    state.absent = { "plan.md": "1970-01-01T00:00:00.000Z" };
    fs.writeFileSync(bob.at(".memdir/sync.json"), JSON.stringify(state));
    await bob.sync();
    expect(remote.live().size).toBe(2);
  });
});

describe("a file that changes during the pass", () => {
  const moments = ["list", "fetch", "write", "push", "save"] as const;
  const situations: Record<string, (team: Awaited<ReturnType<typeof shared>>) => Promise<void>> = {
    "the other changed": async ({ ann }) => {
      ann.write("plan.md", text("ann's"));
      await ann.sync();
    },
    "both changed": async ({ ann, bob }) => {
      ann.write("plan.md", text("ann's"));
      await ann.sync();
      bob.write("plan.md", text("bob's before"));
    },
    "only here": async ({ bob }) => bob.write("plan.md", text("bob's before")),
    "removed there": async ({ ann, clock }) => {
      fs.rmSync(ann.at("plan.md"));
      await ann.sync();
      clock.now = new Date(clock.now.getTime() + 60_000);
      await ann.sync();
    },
  };
  const cases = Object.keys(situations).flatMap((name) => moments.map((moment) => [name, moment] as const));
  it.each(cases)("keeps the newest text: %s, at every %s", async (name, moment) => {
    const team = await shared();
    const { ann, bob, remote } = team;
    await situations[name]?.(team);
    let edits = 0;
    await bob.sync({
      onProgress: (_done, _total, phase) => {
        if (phase === moment && edits < 6) bob.write("plan.md", text(`edit ${++edits}`));
      },
    });
    for (let i = 0; i < 3; i++) {
      await bob.sync();
      await ann.sync();
    }
    const versions = (await remote.open("x").versions("plan.md")).map(({ text }) => text);
    const everything = [everKept(bob), ...remote.live().values(), ...versions].join("\n");
    if (edits > 0) expect([...remote.live().values()].join("\n")).toContain(`edit ${edits}`);
    if (name === "both changed") {
      // An editor that writes over what has just come wins, and what came is a version of the remote.
      expect(everything).toContain("ann's");
      if (edits === 0) expect(everything).toContain("bob's before");
    }
    expect(ann.texts().sort()).toEqual(bob.texts().sort());
  });
});

describe("conflicts of conflicts", () => {
  it("keeps every text of three that met twice, and comes to rest", async () => {
    const { ann, bob, remote } = await shared();
    for (const round of [1, 2, 3]) {
      ann.write("plan.md", text(`ann ${round}`));
      bob.write("plan.md", text(`bob ${round}`));
      await ann.sync();
      await bob.sync();
      await ann.sync();
      const copy = fs.readdirSync(bob.directory.path).find((file) => file.includes("-conflict-")) as string;
      ann.write(copy, text(`ann in the copy ${round}`, `c${round}`));
      bob.write(copy, text(`bob in the copy ${round}`, `c${round}`));
      await ann.sync();
      await bob.sync();
      await ann.sync();
    }
    const live = [...remote.live().values()].join("\n");
    for (const words of ["ann 3", "bob 1", "bob 2", "bob 3", "ann in the copy 3", "bob in the copy 3"])
      expect(live + everKept(bob)).toContain(words);
    const paths = [...remote.live().keys()];
    expect(paths.every((file) => !/-conflict-.*-conflict-/.test(file))).toBe(true);
    const before = remote.calls.length;
    for (const one of [ann, bob, ann, bob]) {
      const result = await one.sync();
      expect([...result.pushed, ...result.pulled]).toEqual([]);
    }
    expect(remote.calls.slice(before).every((call) => call === "list")).toBe(true);
  });

  it("does not write over a memory that somebody named like the copy", async () => {
    const { ann, bob, remote } = await shared();
    bob.write("plan.md", text("bob's"));
    const copy = makeConflictCopy("plan.md", text("bob's"));
    bob.write(copy.path, text("a note that was there", "there"));
    ann.write(copy.path, text("ann's note of that name", "annthere"));
    ann.write("plan.md", text("ann's"));
    await ann.sync();
    for (const one of [bob, ann, bob, ann, bob]) await one.sync();
    const live = [...remote.live().values()].join("\n");
    for (const words of ["bob's", "ann's", "a note that was there", "ann's note of that name"])
      expect(live).toContain(words);
  });

  it("does not write over something odd in the copy's place", async () => {
    const { ann, bob, remote } = await shared();
    bob.write("plan.md", text("bob's"));
    const copy = makeConflictCopy("plan.md", text("bob's"));
    fs.symlinkSync("/etc/passwd", bob.at(copy.path));
    ann.write("plan.md", text("ann's"));
    await ann.sync();
    for (const one of [bob, ann, bob]) await one.sync();
    expect(fs.readlinkSync(bob.at(copy.path))).toBe("/etc/passwd");
    expect([...remote.live().values()].join("\n") + everKept(bob)).toContain("bob's");
  });
});

const lying = (remote: Remote, how: Partial<Remote>): Remote => ({ ...remote, ...how });

describe("a remote that lies", () => {
  it("with a tombstone for everything takes away nothing that was edited here, and all can be undone", async () => {
    const { bob, remote } = await shared();
    bob.write("mine.md", text("never sent", "mine"));
    bob.write("plan.md", text("edited"));
    const real = remote.open("bob");
    const listing = await real.list();
    const entries = listing.entries.map((entry) => ({
      ...entry,
      hash: "",
      deleted: true,
      revision: `${entry.revision}x`,
    }));
    await bob.sync({ remote: lying(real, { list: async () => ({ ...listing, entries }) }) }).catch(() => {});
    expect(bob.read("mine.md")).toContain("never sent");
    expect(bob.read("plan.md")).toContain("edited");
    expect(everKept(bob)).toContain("other");
    expect(readJournal(bob.directory).length).toBeGreaterThan(0);
  });

  it("says that it is not at rest when texts never are the ones that were listed", async () => {
    const { bob, ann, remote } = await shared();
    ann.write("plan.md", text("new"));
    await ann.sync();
    const real = remote.open("bob");
    const result = await bob.sync({ remote: lying(real, { fetch: async () => new Map() }) });
    expect(bob.read("plan.md")).toContain("first");
    expect(result.notices.join("\n")).toMatch(/not .*(done|exchanged|settled|rest)|again/i);
  });

  it("says so when it calls every change stale", async () => {
    const { bob, remote } = await shared();
    bob.write("plan.md", text("mine"));
    const real = remote.open("bob");
    const stale: Remote["apply"] = async (changes) => changes.map(({ path }) => ({ kind: "stale", path }));
    const result = await bob.sync({ remote: lying(real, { apply: stale }) });
    expect(bob.read("plan.md")).toContain("mine");
    expect(result.notices.join("\n")).toMatch(/again/i);
  });

  it("with revisions that go back and times to come does not take a local edit away", async () => {
    const { bob, remote } = await shared();
    bob.write("plan.md", text("mine"));
    const real = remote.open("bob");
    const list: Remote["list"] = async () => {
      const { id, entries } = await real.list();
      return { id, entries: entries.map((entry) => ({ ...entry, revision: "r0", at: "9999-12-31T23:59:59.999Z" })) };
    };
    await bob.sync({ remote: lying(real, { list }) });
    await bob.sync();
    expect(everKept(bob) + [...remote.live().values()].join("")).toContain("mine");
  });

  it("with names that differ in case only does not make one of two", async () => {
    const { bob, remote } = makeTeam();
    const apply = remote.open("x").apply;
    await apply([
      { kind: "put", path: "Note.md", text: text("upper", "N"), expected: null },
      { kind: "put", path: "note.md", text: text("lower", "n"), expected: null },
    ]);
    expect((await bob.sync()).refused.map(({ path }) => path)).toEqual(["note.md"]);
    expect(bob.texts()).toEqual([text("upper", "N")]);
    expect(remote.live().size).toBe(2);
  });
});

describe("a refusal", () => {
  it("for want of a right is tried again with the next pass, and told once for each memory", async () => {
    const { bob, remote } = await shared();
    bob.write("plan.md", text("mine"));
    const real = remote.open("bob");
    const apply: Remote["apply"] = async (changes) =>
      changes.map(({ path }) => ({ kind: "refused", path, reason: "you may not write", isPassing: true }));
    for (let i = 0; i < 2; i++) {
      const result = await bob.sync({ remote: lying(real, { apply }) });
      expect(result.refused).toEqual([{ path: "plan.md", reason: "you may not write" }]);
    }
    expect((await bob.sync()).pushed).toEqual(["plan.md"]);
  });
});

describe("odd texts and names", () => {
  it("carries CRLF, a BOM, an empty text and no line break at the end byte for byte", async () => {
    const { ann, bob } = makeTeam();
    const odd: Record<string, string> = {
      "crlf.md": text("a").replaceAll("\n", "\r\n"),
      "bom.md": `\ufeff${text("b")}`,
      "empty.md": "",
      "bare.md": "no frontmatter, no end",
      "emoji.md": text("🙂 \u2028 \u202e"),
    };
    for (const [file, content] of Object.entries(odd)) ann.write(file, content);
    await ann.sync();
    const result = await bob.sync();
    expect(result.pulled.sort()).toEqual(Object.keys(odd).sort());
    for (const [file, content] of Object.entries(odd)) expect(bob.read(file)).toBe(content);
  });

  it("leaves a name alone that is not NFC, and says so", async () => {
    const { ann, remote } = makeTeam();
    ann.write("cafe\u0301.md", text("nfd"));
    const result = await ann.sync();
    expect(remote.live().size).toBe(0);
    expect(result.refused.map(({ reason }) => reason).join()).toContain("NFC");
  });

  it("a limit is a limit: 250,000 bytes go, one more is held back and stays", async () => {
    const { ann, remote } = makeTeam();
    const head = text("");
    ann.write("fits.md", head + "x".repeat(250_000 - head.length));
    ann.write("not.md", head + "x".repeat(250_001 - head.length));
    const result = await ann.sync();
    expect([...remote.live().keys()]).toEqual(["fits.md"]);
    expect(result.refused.map(({ path }) => path)).toEqual(["not.md"]);
    expect(ann.exists("not.md")).toBe(true);
  });

  it("a case-only rename keeps the text", async () => {
    const { ann, bob, remote, clock } = await shared();
    fs.renameSync(ann.at("plan.md"), ann.at("Plan.md"));
    await ann.sync();
    clock.now = new Date(clock.now.getTime() + 60_000);
    await ann.sync();
    await bob.sync();
    expect([...remote.live().values()].join("")).toContain("first");
    expect(bob.read("Plan.md")).toContain("first");
    expect(fs.existsSync(bob.at("plan.md"))).toBe(false);
  });
});

it("stopped while it writes says so as one who was stopped, not as a failure", async () => {
  const { ann, bob } = makeTeam();
  ann.write("plan.md", text("first"));
  await ann.sync();
  const stop = new AbortController();
  const error = await errorOf(
    bob.sync({ signal: stop.signal, onProgress: (_done, _total, phase) => phase === "write" && stop.abort() }),
  );
  expect(error).toBeInstanceOf(MemdirError);
  await bob.sync();
  expect(bob.read("plan.md")).toContain("first");
});

describe("a pass that is cut off after the remote has taken a text", () => {
  const cutOff = (remote: Remote): Remote => ({
    ...remote,
    apply: async (changes) => {
      await remote.apply(changes);
      throw new MemdirError("network", "the answer was lost");
    },
  });

  it("does not meet its own text as somebody else's when it was edited since", async () => {
    const { ann, bob, remote } = await shared();
    bob.write("plan.md", text("second"));
    bob.write("new.md", text("new", "new"));
    expect((await errorOf(bob.sync({ remote: cutOff(remote.open("bob")) }))).code).toBe("network");
    bob.write("plan.md", text("third"));
    bob.write("new.md", text("newer", "new"));
    const result = await bob.sync();
    expect(result.conflicts).toEqual([]);
    expect(result.pushed.sort()).toEqual(["new.md", "plan.md"]);
    await ann.sync();
    expect(ann.read("plan.md")).toContain("third");
    expect(ann.read("new.md")).toContain("newer");
    expect(JSON.parse(bob.read(".memdir/sync.json")).sent).toBeUndefined();
  });

  it("removes what was removed since", async () => {
    const { bob, remote, clock } = await shared();
    bob.write("new.md", text("new", "new"));
    await errorOf(bob.sync({ remote: cutOff(remote.open("bob")) }));
    fs.rmSync(bob.at("new.md"));
    await bob.sync();
    clock.now = new Date(clock.now.getTime() + 60_000);
    await bob.sync();
    expect(bob.exists("new.md")).toBe(false);
    expect(remote.live().has("new.md")).toBe(false);
  });

  it("does not take somebody's later text for its own", async () => {
    const { ann, bob, remote } = await shared();
    bob.write("plan.md", text("second"));
    await errorOf(bob.sync({ remote: cutOff(remote.open("bob")) }));
    await ann.sync();
    ann.write("plan.md", text("ann's third"));
    await ann.sync();
    bob.write("plan.md", text("bob's third"));
    const result = await bob.sync();
    expect(result.conflicts).toHaveLength(1);
    const live = [...remote.live().values()].join("\n");
    expect(live).toContain("ann's third");
    expect(live).toContain("bob's third");
  });
});

it("notes the time of a pass that changed nothing, and of none that failed", async () => {
  const { bob, clock, remote } = await shared();
  const time = () => fs.statSync(bob.at(".memdir/sync.json")).mtime.toISOString();
  clock.now = new Date("2026-03-11T12:00:00.000Z");
  await bob.sync();
  expect(time()).toBe("2026-03-11T12:00:00.000Z");
  clock.now = new Date("2026-03-12T12:00:00.000Z");
  const down = async () => {
    throw new MemdirError("network", "down");
  };
  await errorOf(bob.sync({ remote: lying(remote.open("bob"), { list: down }) }));
  expect(time()).toBe("2026-03-11T12:00:00.000Z");
});

it("cut off between what it wrote here and its notes does not meet that text as somebody else's", async () => {
  const { ann, bob, remote } = await shared();
  ann.write("plan.md", text("ann's second"));
  ann.write("new.md", text("ann's new", "new"));
  await ann.sync();
  const cut = bob.sync({
    onProgress: (_done, _total, phase) => {
      if (phase === "save") throw new Error("killed");
    },
  });
  await expect(cut).rejects.toThrow("killed");
  expect(bob.read("plan.md")).toContain("ann's second");
  bob.write("plan.md", text("bob's third"));
  bob.write("new.md", text("bob's newer", "new"));
  expect((await bob.sync()).conflicts).toEqual([]);
  expect([...remote.live().keys()].sort()).toEqual(["new.md", "other.md", "plan.md"]);
  expect(remote.live().get("plan.md")).toContain("bob's third");
  // What was not written here is no ground to write over theirs.
  ann.write("plan.md", text("ann's fourth"));
  await ann.sync().then(() => ann.sync());
  ann.write("plan.md", text("ann's fifth"));
  await ann.sync();
  bob.write("plan.md", text("bob's fourth"));
  expect((await bob.sync()).conflicts).toHaveLength(1);
});
