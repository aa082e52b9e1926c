import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { renameMemory } from "../../src/memory/edit.ts";
import { forgetMemory } from "../../src/memory/forget.ts";
import { readJournal } from "../../src/store/journal.ts";
import { undoEntry } from "../../src/store/undo.ts";
import { LIMITS } from "../../src/team/protocol.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import type { SyncOptions, SyncResult } from "../../src/team/sync-pass.ts";
import { makeTemporary } from "../temporary.ts";
import { errorOf } from "../world.ts";
import { type MemoryRemote, makeMemoryRemote } from "./memory-remote.ts";
import { memory } from "./remote-contract.ts";
import { directoryAt } from "./sync-world.ts";

function makeTeam(remote: MemoryRemote = makeMemoryRemote()) {
  const top = makeTemporary("sync", "memory");
  const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  function client(name: string) {
    const directory = directoryAt(path.join(top, name), clock);
    const at = (file: string) => path.join(directory.path, file);
    return {
      directory,
      at,
      write(file: string, text: string | Uint8Array): void {
        fs.mkdirSync(path.dirname(at(file)), { recursive: true });
        fs.writeFileSync(at(file), text);
      },
      read: (file: string) => fs.readFileSync(at(file), "utf8"),
      exists: (file: string) => fs.existsSync(at(file)),
      rm: (file: string) => fs.rmSync(at(file)),
      sync: (more: Partial<SyncOptions> = {}): Promise<SyncResult> =>
        syncDirectory({
          directory,
          remote: remote.open(name),
          who: name,
          findSecrets: (text) =>
            text.split("\n").flatMap((line, i) => (line.includes("SECRET") ? [{ rule: "test-key", line: i + 1 }] : [])),
          ...more,
        }),
    };
  }
  return {
    remote,
    top,
    clock,
    wait: (s: number) => (clock.now = new Date(clock.now.getTime() + s * 1000)),
    ann: client("ann"),
    bob: client("bob"),
  };
}

const NOTHING: SyncResult = {
  pulled: [],
  pushed: [],
  removed: { here: [], there: [] },
  merged: [],
  conflicts: [],
  refused: [],
  waiting: [],
  notices: [],
};

const text = (a: string, b: string) =>
  `---\nname: plan\ndescription: the plan\ntype: project\n---\n\n# One\n\n${a}\n\n# Two\n\n${b}\n`;

async function shared() {
  const team = makeTeam();
  team.ann.write("plan.md", text("a", "b"));
  team.ann.write("other.md", memory("other"));
  await team.ann.sync();
  await team.bob.sync();
  return team;
}

describe("syncDirectory", () => {
  it("shares a new memory, with its line in the index, and then does nothing", async () => {
    const { ann, bob, remote } = makeTeam();
    ann.write("sub/plan.md", text("a", "b"));
    expect(await ann.sync()).toEqual({ ...NOTHING, pushed: ["sub/plan.md"] });
    expect(await bob.sync()).toEqual({ ...NOTHING, pulled: ["sub/plan.md"] });
    expect(bob.read("sub/plan.md")).toBe(text("a", "b"));
    expect(bob.read("MEMORY.md")).toContain("- [plan](sub/plan.md) — the plan");
    remote.calls.length = 0;
    const state = fs.statSync(ann.at(".memdir/sync.json")).ino;
    expect(await ann.sync()).toEqual(NOTHING);
    expect(fs.statSync(ann.at(".memdir/sync.json")).ino).toBe(state);
    expect(await bob.sync()).toEqual(NOTHING);
    expect(remote.calls).toEqual(["list", "list"]);
    expect([...remote.live().keys()]).toEqual(["sub/plan.md"]);
  });

  it("journals what it writes as one change that can be undone", async () => {
    const { ann, bob } = await shared();
    expect(readJournal(bob.directory).map(({ action, files }) => [action, files.length])).toEqual([["sync", 2]]);
    await forgetMemory(ann.directory, "plan.md");
    expect((await ann.sync()).removed.there).toEqual(["plan.md"]);
    expect((await bob.sync()).removed.here).toEqual(["plan.md"]);
    expect(bob.read("MEMORY.md")).not.toContain("plan.md");
    await undoEntry(bob.directory);
    expect(bob.read("plan.md")).toBe(text("a", "b"));
    expect((await bob.sync()).pushed).toEqual(["plan.md"]);
    expect((await ann.sync()).pulled).toEqual(["plan.md"]);
  });

  it("joins changes of different sections", async () => {
    const { ann, bob, remote } = await shared();
    ann.write("plan.md", text("ann's", "b"));
    bob.write("plan.md", text("a", "bob's"));
    expect((await ann.sync()).pushed).toEqual(["plan.md"]);
    expect(await bob.sync()).toEqual({ ...NOTHING, merged: ["plan.md"] });
    expect(await ann.sync()).toEqual({ ...NOTHING, pulled: ["plan.md"] });
    for (const one of [ann.read("plan.md"), bob.read("plan.md"), remote.live().get("plan.md")])
      expect(one).toBe(text("ann's", "bob's"));
  });

  it("keeps both when the same lines changed: theirs at the path, ours beside it, on every machine", async () => {
    const { ann, bob, remote } = await shared();
    ann.write("plan.md", text("ann's", "b"));
    bob.write("plan.md", text("bob's", "b"));
    await ann.sync();
    const result = await bob.sync();
    const copy = result.conflicts[0]?.copy as string;
    expect(copy).toMatch(/^plan-conflict-[0-9a-f]{8}\.md$/);
    expect(result).toEqual({
      ...NOTHING,
      pushed: [copy],
      conflicts: [{ path: "plan.md", copy }],
      notices: [expect.stringContaining("ann")],
    });
    expect(bob.read("plan.md")).toBe(text("ann's", "b"));
    expect(bob.read(copy)).toContain("bob's");
    expect(bob.read(copy)).toContain("conflict_with: plan\n");
    expect(bob.read("MEMORY.md")).toContain(copy);
    expect(await ann.sync()).toEqual({ ...NOTHING, pulled: [copy] });
    expect(Object.fromEntries(remote.live())).toEqual({
      "plan.md": text("ann's", "b"),
      "other.md": memory("other"),
      [copy]: bob.read(copy),
    });
    expect(await bob.sync()).toEqual(NOTHING);
  });

  it("makes the same copy again when it was killed, not a second one", async () => {
    const { ann, bob } = await shared();
    ann.write("plan.md", text("ann's", "b"));
    bob.write("plan.md", text("bob's", "b"));
    await ann.sync();
    for (let at = 1; at < 14; at++) {
      let steps = 0;
      const onProgress = () => {
        if (++steps === at) throw new Error("killed");
      };
      await bob.sync({ onProgress }).catch(() => {});
    }
    await bob.sync();
    expect(fs.readdirSync(bob.directory.path).filter((name) => name.includes("conflict")).length).toBe(1);
    expect(bob.read("plan.md")).toBe(text("ann's", "b"));
  });

  it("keeps an edit against a removal, either way round", async () => {
    const { ann, bob, wait } = await shared();
    await forgetMemory(ann.directory, "plan.md");
    await forgetMemory(bob.directory, "other.md");
    bob.write("plan.md", text("a", "edited"));
    await ann.sync();
    const kept = await bob.sync();
    expect(kept.pushed).toEqual(["plan.md"]);
    expect(kept.notices).toEqual([expect.stringContaining("your change is kept")]);
    expect(kept.removed.there).toEqual(["other.md"]);
    ann.write("other.md", memory("edited other"));
    const result = await ann.sync();
    expect(result.pulled).toEqual(["plan.md"]);
    expect(result.pushed).toEqual(["other.md"]);
    wait(60);
    expect((await bob.sync()).pulled).toEqual(["other.md"]);
    expect(bob.read("other.md")).toBe(memory("edited other"));
  });

  it("brings back what was removed here while others changed it", async () => {
    const { ann, bob } = await shared();
    await forgetMemory(bob.directory, "plan.md");
    ann.write("plan.md", text("a", "newer"));
    await ann.sync();
    const result = await bob.sync();
    expect(result.pulled).toEqual(["plan.md"]);
    expect(result.notices).toEqual([expect.stringContaining("it is back")]);
  });

  it("lets a file that merely vanished wait for 30 s, over two passes", async () => {
    const { ann, remote, clock, wait } = await shared();
    ann.rm("plan.md");
    expect((await ann.sync()).waiting).toEqual([{ path: "plan.md", until: "2026-03-10T12:00:30.000Z" }]);
    wait(29);
    expect((await ann.sync()).removed.there).toEqual([]);
    // It was only an editor that saves in two steps.
    ann.write("plan.md", text("a", "b"));
    wait(10);
    expect(await ann.sync()).toEqual(NOTHING);
    ann.rm("plan.md");
    expect((await ann.sync()).waiting[0]?.until).toBe(new Date(clock.now.getTime() + 30_000).toISOString());
    wait(31);
    expect((await ann.sync()).removed.there).toEqual(["plan.md"]);
    expect([...remote.live().keys()]).toEqual(["other.md"]);
  });

  it("looks again right before it removes", async () => {
    const { ann, remote, wait } = await shared();
    ann.rm("plan.md");
    await ann.sync();
    wait(31);
    const onProgress = (_done: number, _total: number, phase: string) => {
      if (phase === "save") ann.write("plan.md", text("a", "b"));
    };
    expect((await ann.sync({ onProgress })).removed.there).toEqual([]);
    expect(remote.live().has("plan.md")).toBe(true);
  });

  it("renames at once", async () => {
    const { ann, bob } = await shared();
    const { file } = await renameMemory(ann.directory, "plan.md", "new plan");
    const result = await ann.sync();
    expect(result.pushed).toEqual([file]);
    expect(result.removed.there).toEqual(["plan.md"]);
    const there = await bob.sync();
    expect(there.pulled).toEqual([file]);
    expect(there.removed.here).toEqual(["plan.md"]);
  });

  it.each([
    [
      "emptied",
      (dir: string) => {
        for (const name of ["plan.md", "other.md", "MEMORY.md"]) fs.rmSync(path.join(dir, name), { force: true });
      },
    ],
    ["removed", (dir: string) => fs.rmSync(dir, { recursive: true })],
    ["without its state", (dir: string) => fs.rmSync(path.join(dir, ".memdir"), { recursive: true })],
    [
      "without its state and a file",
      (dir: string) => {
        fs.rmSync(path.join(dir, ".memdir"), { recursive: true });
        fs.rmSync(path.join(dir, "plan.md"));
      },
    ],
    [
      "with a state that cannot be read",
      (dir: string) => {
        fs.writeFileSync(path.join(dir, ".memdir/sync.json"), "{");
        fs.rmSync(path.join(dir, "plan.md"));
      },
    ],
  ])("a directory that was %s is filled again, never taken for deletions", async (_, harm) => {
    const { bob, remote, wait } = await shared();
    harm(bob.directory.path);
    for (let i = 0; i < 3; i++) {
      expect((await bob.sync()).removed).toEqual({ here: [], there: [] });
      wait(60);
    }
    expect(bob.read("plan.md")).toBe(text("a", "b"));
    expect(bob.read("other.md")).toBe(memory("other"));
    expect(remote.live().size).toBe(2);
  });

  it("deletes nothing when the remote is another one", async () => {
    const { bob, remote, wait } = await shared();
    bob.rm("plan.md");
    remote.id = "another";
    remote.lose("other.md");
    const result = await bob.sync();
    expect(result.notices).toEqual([expect.stringContaining("not the remote of the last sync")]);
    expect(result.removed).toEqual({ here: [], there: [] });
    wait(60);
    await bob.sync();
    expect([...remote.live().keys()].sort()).toEqual(["other.md", "plan.md"]);
    expect(bob.exists("plan.md") && bob.exists("other.md")).toBe(true);
  });

  it("puts back what the remote lost without a tombstone", async () => {
    const { ann, remote } = await shared();
    remote.lose("plan.md");
    remote.lose("other.md");
    const result = await ann.sync();
    expect(result.pushed).toEqual(["other.md", "plan.md"]);
    expect(result.removed.here).toEqual([]);
  });

  it("knows from the remote's versions that it is only behind, without a state", async () => {
    const { ann, bob } = await shared();
    ann.write("plan.md", text("a", "newer"));
    await ann.sync();
    fs.rmSync(bob.at(".memdir"), { recursive: true });
    const result = await bob.sync();
    expect(result.conflicts).toEqual([]);
    expect(bob.read("plan.md")).toBe(text("a", "newer"));
  });

  it("holds back a text with a secret, names rule and line, and asks again only when it changed", async () => {
    const { ann, remote } = await shared();
    ann.write("plan.md", text("a", "key SECRET-123"));
    const result = await ann.sync();
    expect(result.pushed).toEqual([]);
    expect(result.refused).toEqual([{ path: "plan.md", reason: expect.stringContaining("test-key in line 13") }]);
    expect(JSON.stringify(result)).not.toContain("123");
    const asked: string[] = [];
    const again = await ann.sync({
      findSecrets: (one) => {
        asked.push(one);
        return [];
      },
    });
    expect(asked).toEqual([]);
    expect(again.refused).toEqual(result.refused);
    expect(fs.readFileSync(ann.at(".memdir/sync.json"), "utf8")).not.toContain("123");
    ann.write("plan.md", text("a", "no key"));
    expect(await ann.sync()).toEqual({ ...NOTHING, pushed: ["plan.md"] });
    expect(JSON.stringify([...(await remote.open("x").versions("plan.md"))])).not.toContain("SECRET");
  });

  it("does not write a remote's text that holds a secret", async () => {
    const { ann, bob } = await shared();
    ann.write("plan.md", text("a", "SECRET-9"));
    ann.write("new.md", memory("SECRET-9"));
    await ann.sync({ findSecrets: () => [] });
    const result = await bob.sync();
    expect(result.pulled).toEqual([]);
    expect(result.refused.map((one) => one.path).sort()).toEqual(["new.md", "plan.md"]);
    expect(bob.read("plan.md")).toBe(text("a", "b"));
    expect(bob.exists("new.md")).toBe(false);
    expect((await bob.sync()).refused.length).toBe(2);
    ann.write("plan.md", text("a", "fine"));
    await ann.sync({ findSecrets: () => [] });
    expect((await bob.sync()).pulled).toEqual(["plan.md"]);
  });

  it("leaves alone what may not travel, and does not take it for removed", async () => {
    const { ann, remote, wait } = await shared();
    const mayTravel = (file: string) => (file === "plan.md" ? "it is private" : null);
    ann.write("plan.md", text("private", "now"));
    for (let i = 0; i < 3; i++) {
      const result = await ann.sync({ mayTravel });
      expect(result).toEqual({ ...NOTHING, refused: [{ path: "plan.md", reason: "it is private" }] });
      wait(60);
    }
    expect(remote.live().get("plan.md")).toBe(text("a", "b"));
    expect(ann.read("plan.md")).toBe(text("private", "now"));
  });

  it("leaves alone what is no text, too large, a link, a folder, another directory's", async () => {
    const { ann, bob, remote, top, wait } = await shared();
    fs.writeFileSync(path.join(top, "outside.md"), "outside");
    for (const name of ["binary", "huge", "link", "folder"]) bob.write(`${name}.md`, memory(name));
    bob.write("nested/deep.md", memory("deep"));
    await bob.sync();
    await ann.sync();
    const before = Object.fromEntries(remote.live());
    ann.write("binary.md", Buffer.from([0xc3, 0x28, 0]));
    ann.write("huge.md", "x".repeat(250_001));
    ann.rm("link.md");
    fs.symlinkSync(path.join(top, "outside.md"), ann.at("link.md"));
    ann.rm("folder.md");
    fs.mkdirSync(ann.at("folder.md"));
    fs.mkdirSync(ann.at("nested/.memdir"));
    for (let i = 0; i < 2; i++) {
      const result = await ann.sync();
      expect(result.refused.map((one) => one.path).sort()).toEqual(["binary.md", "folder.md", "huge.md", "link.md"]);
      expect({ ...result, refused: [] }).toEqual(NOTHING);
      wait(60);
    }
    expect(Object.fromEntries(remote.live())).toEqual(before);
    expect(fs.readFileSync(path.join(top, "outside.md"), "utf8")).toBe("outside");
  });

  it("takes no path from a remote that leads elsewhere, and no folder in the place of a memory", async () => {
    const { bob, remote, top } = await shared();
    const evil = remote.open("eve");
    const entry = { hash: "x", revision: "1", deleted: false, author: "eve", at: "" };
    const bad = ["../out.md", "/abs.md", ".memdir/sync.md", "MEMORY.md", "con.md", "plan.md/below.md"];
    const result = await bob.sync({
      remote: {
        ...evil,
        list: async () => {
          const listing = await evil.list();
          return { ...listing, entries: [...listing.entries, ...bad.map((file) => ({ ...entry, path: file }))] };
        },
      },
    });
    expect(result.refused.map((one) => one.path)).toEqual(bad);
    expect(fs.readdirSync(top).sort()).toEqual(["ann", "bob"]);
  });

  it("refuses a text that is not the one that was listed", async () => {
    const { bob, remote, ann } = await shared();
    ann.write("plan.md", text("a", "newer"));
    await ann.sync();
    const liar = remote.open("eve");
    const result = await bob.sync({ remote: { ...liar, fetch: async () => new Map([["plan.md", "forged"]]) } });
    expect(result.refused).toEqual([{ path: "plan.md", reason: expect.stringContaining("not the one") }]);
    expect(bob.read("plan.md")).toBe(text("a", "b"));
  });

  it("does not write over a file that changed while it was at it", async () => {
    const { ann, bob } = await shared();
    ann.write("plan.md", text("ann's", "b"));
    await ann.sync();
    let once = true;
    const onProgress = (_done: number, _total: number, phase: string) => {
      if (phase === "write" && once) bob.write("plan.md", text("a", "bob's, just now"));
      if (phase === "write") once = false;
    };
    const result = await bob.sync({ onProgress });
    expect(result.merged).toEqual(["plan.md"]);
    expect(bob.read("plan.md")).toBe(text("ann's", "bob's, just now"));
  });

  it("goes on after a network that failed, and is stopped by its signal", async () => {
    const { ann, bob, remote } = await shared();
    for (let i = 0; i < 45; i++) ann.write(`n${i}.md`, memory(String(i)));
    let calls = 0;
    const open = remote.open("ann");
    const flaky = {
      ...open,
      apply: async (changes: Parameters<typeof open.apply>[0]) => {
        calls++;
        await open.apply(changes.slice(0, 20));
        throw new MemdirError("network", "down");
      },
    };
    expect((await errorOf(ann.sync({ remote: flaky }))).code).toBe("network");
    expect(calls).toBe(1);
    expect(remote.live().size).toBe(22);
    expect((await ann.sync()).pushed.length).toBe(25);
    await expect(bob.sync({ signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    expect((await bob.sync()).pulled.length).toBe(45);
  });

  describe("what is written aside while the rest is fetched", () => {
    /** More than are fetched at once. */
    const MANY = LIMITS.fetchPaths + 6;

    async function sharedMany() {
      const team = makeTeam();
      for (let at = 0; at < MANY; at++) team.ann.write(`note-${at}.md`, memory(`note ${at}`));
      await team.ann.sync();
      return { ...team, aside: () => fs.readdirSync(team.bob.at(".memdir/tmp")) };
    }

    it("waits there until it is moved, and is written again if another program has swept it", async () => {
      const { bob, aside } = await sharedMany();
      const onProgress: SyncOptions["onProgress"] = (_, __, phase) => {
        if (phase !== "write") return;
        expect(aside()).toHaveLength(MANY);
        for (const name of aside().slice(3)) fs.rmSync(bob.at(`.memdir/tmp/${name}`));
      };
      expect((await bob.sync({ onProgress })).pulled).toHaveLength(MANY);
      expect(bob.read(`note-${MANY - 1}.md`)).toBe(memory(`note ${MANY - 1}`));
      expect(aside()).toEqual([]);
    });

    it("is gone when the rest does not come, and when a file of it has changed here meanwhile", async () => {
      const { bob, remote, aside } = await sharedMany();
      const honest = remote.open("bob");
      let pages = 0;
      const fetch: typeof honest.fetch = (entries) =>
        pages++ > 0 ? Promise.reject(new MemdirError("network", "gone")) : honest.fetch(entries);
      await expect(bob.sync({ remote: { ...honest, fetch } })).rejects.toThrow("gone");
      expect(pages).toBe(2);
      expect(aside()).toEqual([]);
      const onProgress: SyncOptions["onProgress"] = (_, __, phase) => {
        if (phase === "write" && !bob.exists("note-7.md")) bob.write("note-7.md", memory("note 7, of bob"));
      };
      const { pulled, conflicts } = await bob.sync({ onProgress });
      expect(pulled).not.toContain("note-7.md");
      expect(pulled).toHaveLength(MANY - 1);
      expect(conflicts.map(({ path }) => path)).toEqual(["note-7.md"]);
      expect(aside()).toEqual([]);
    });
  });

  it("is one at a time for a directory", async () => {
    const { ann } = await shared();
    ann.write("new.md", memory("new"));
    const [first, second] = await Promise.allSettled([ann.sync(), ann.sync()]);
    expect(first.status).toBe("fulfilled");
    expect(second.status === "rejected" && second.reason.code).toBe("lock");
  });

  it("removes no more than eight of a few in one pass, on purpose or not", async () => {
    const { ann, remote } = await shared();
    for (let i = 0; i < 12; i++) ann.write(`n${i}.md`, memory(String(i)));
    await ann.sync();
    for (let i = 0; i < 12; i++) await forgetMemory(ann.directory, `n${i}.md`);
    const result = await ann.sync();
    expect(result.removed.there.length).toBe(8);
    expect(result.waiting.length).toBe(4);
    expect((await ann.sync()).removed.there.length).toBe(4);
    expect(remote.live().size).toBe(2);
  });

  it("takes turns with two stores without needless copies", async () => {
    const { ann, remote } = await shared();
    const other = makeMemoryRemote();
    other.id = "other";
    const second = () => ann.sync({ remote: other.open("ann") });
    const first = () => ann.sync({ remote: remote.open("ann") });
    expect((await second()).notices).toEqual([expect.stringContaining("not the remote of the last sync")]);
    for (const words of ["1", "2", "3"]) {
      ann.write("plan.md", text("a", words));
      expect(await first()).toEqual({ ...NOTHING, pushed: ["plan.md"] });
      ann.write("plan.md", text("a", `${words} again`));
      expect(await second()).toEqual({ ...NOTHING, pushed: ["plan.md"] });
    }
    await forgetMemory(ann.directory, "other.md");
    expect((await first()).removed.there).toEqual(["other.md"]);
    expect((await second()).removed.there).toEqual(["other.md"]);
  });

  it("makes no copy when it was killed between pulling and noting it, and both sides went on", async () => {
    const { ann, bob } = await shared();
    ann.write("plan.md", text("ann's", "b"));
    await ann.sync();
    const kill = (_done: number, _total: number, phase: string) => {
      if (phase === "save" && bob.read("plan.md") !== text("a", "b")) throw new Error("killed");
    };
    await expect(bob.sync({ onProgress: kill })).rejects.toThrow("killed");
    bob.write("plan.md", text("ann's", "bob's"));
    ann.write("plan.md", text("ann's second", "b"));
    await ann.sync();
    expect(await bob.sync()).toEqual({ ...NOTHING, merged: ["plan.md"] });
    expect(bob.read("plan.md")).toBe(text("ann's second", "bob's"));
  });

  it("holds back a memory that cannot be read, and takes the others", async () => {
    const { ann, bob, remote } = await shared();
    const broken = "---\nname: [\n  - x: y: z\n---\nwords\n";
    const put = { kind: "put", path: "broken.md", text: broken, expected: null } as const;
    expect(await remote.open("ann").apply([put])).toMatchObject([{ kind: "done" }]);
    ann.write("fine.md", memory("fine"));
    await ann.sync();
    const result = await bob.sync();
    expect(result.pulled).toContain("fine.md");
    expect(result.refused.map(({ path }) => path)).toEqual(bob.exists("broken.md") ? [] : ["broken.md"]);
  });

  it("keeps only the base texts that it needs", async () => {
    const { ann } = await shared();
    for (let i = 0; i < 5; i++) {
      ann.write("plan.md", text("a", String(i)));
      await ann.sync();
    }
    const texts = fs
      .readdirSync(ann.at(".memdir/sync-base"))
      .flatMap((name) => Object.values(JSON.parse(ann.read(`.memdir/sync-base/${name}`))));
    expect(texts.sort()).toEqual([memory("other"), text("a", "4")].sort());
  });
});
