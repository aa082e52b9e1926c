/** Names that differ only by case or Unicode form, on disks that ignore that and on disks that do not. */

import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Remote } from "../../src/team/remote.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { sha256 } from "../../src/text/hash.ts";
import { makeTemporary } from "../temporary.ts";
import { ignoreCase } from "./case-disk.ts";
import { makeGitPlace } from "./git-place.ts";
import { makeMemoryRemote } from "./memory-remote.ts";
import { memory } from "./remote-contract.ts";
import { directoryAt } from "./sync-world.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

function openClient(remote: Remote, { isCaseless = false } = {}) {
  const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  const dir = path.join(makeTemporary("case", "memory"), "mirror");
  fs.mkdirSync(dir);
  const spell = { rename: fs.renameSync, list: fs.readdirSync };
  if (isCaseless) undo.push(ignoreCase(dir));
  const directory = directoryAt(dir, clock);
  return {
    dir,
    write: (file: string, text: string) => fs.writeFileSync(path.join(dir, file), text),
    read: (file: string) => fs.readFileSync(path.join(dir, file), "utf8"),
    /** As the disk spells them. */
    names: () => spell.list(dir).filter((name) => !name.startsWith(".") && name !== "MEMORY.md"),
    respell: (from: string, to: string) => spell.rename(path.join(dir, from), path.join(dir, to)),
    sync: () => syncDirectory({ directory, remote, who: "me", findSecrets: () => [] }),
    later: () => (clock.now = new Date(clock.now.getTime() + 60_000)),
  };
}

/** A remote that lists what its server, or somebody with git, put there in spite of all rules. */
function makeHostile(texts: Record<string, string>): Remote & { puts: string[] } {
  const puts: string[] = [];
  const entryOf = ([file, text]: [string, string]) => ({
    path: file,
    hash: sha256(text),
    revision: "1",
    deleted: false,
    author: "",
    at: "",
  });
  return {
    puts,
    name: "hostile",
    list: async () => ({ id: "hostile", entries: Object.entries(texts).map(entryOf) }),
    fetch: async (entries) => new Map(entries.map(({ path: file }) => [file, texts[file] ?? ""])),
    apply: async (changes) => {
      puts.push(...changes.map(({ path: file }) => file));
      return changes.map(({ path: file }) => ({ kind: "done", path: file, revision: "2" }));
    },
    findLost: async () => new Set(),
    versions: async () => [],
  };
}

describe.each([true, false])("on a disk that ignores case: %s", (isCaseless) => {
  it("takes one of two names, says so, and sends nothing of it back", async () => {
    const remote = makeHostile({
      "Guide.md": memory("one"),
      "guide.md": memory("two"),
      "caf\u00e9.md": memory("three"),
    });
    const client = openClient(remote, { isCaseless });
    for (let i = 0; i < 3; i++) {
      const { refused } = await client.sync();
      expect(refused).toEqual([{ path: "guide.md", reason: expect.stringContaining("cannot exist beside Guide.md") }]);
      client.later();
    }
    expect(client.names().sort()).toEqual(["Guide.md", "caf\u00e9.md"]);
    expect(client.read("Guide.md")).toBe(memory("one"));
    expect(remote.puts).toEqual([]);
  });

  it("does not let the index, or a folder in another spelling, be a memory", async () => {
    const texts = { "memory.md": memory("one"), "sub/a.md": memory("two"), "Sub/b.md": memory("three") };
    const remote = makeHostile(texts);
    const client = openClient(remote, { isCaseless });
    client.write("MEMORY.md", "# Mine\n");
    for (let i = 0; i < 3; i++) {
      const { refused } = await client.sync();
      expect(refused.map(({ path: file }) => file).sort()).toEqual(["memory.md", "sub/a.md"]);
      client.later();
    }
    expect(client.read("MEMORY.md")).toMatch(/^# Mine\n/);
    expect(remote.puts).toEqual([]);
  });

  it("refuses to send a name beside another spelling of it", async () => {
    const { open, live } = makeMemoryRemote();
    const other = openClient(open("other"));
    other.write("guide.md", memory("theirs"));
    await other.sync();
    const client = openClient(open("me"), { isCaseless });
    client.write("Guide.md", memory("mine"));
    const { refused, conflicts } = await client.sync();
    // Where both names are one file, the two texts meet as changes of one memory.
    if (isCaseless) expect(conflicts.map(({ path: file }) => file)).toEqual(["guide.md"]);
    else expect(refused.map(({ path: file }) => file)).toEqual(["Guide.md"]);
    const texts = [...live().values(), ...client.names().map(client.read)].join("\n");
    for (const words of [memory("theirs"), "mine"]) expect(texts).toContain(words);
    expect([...live().keys()].filter((file) => /^guide\.md$/i.test(file))).toEqual(["guide.md"]);
  });

  it("follows a memory that a colleague only spelled anew, in one sync", async () => {
    const { open, live } = makeMemoryRemote();
    const other = openClient(open("other"));
    other.write("guide.md", memory("guide"));
    await other.sync();
    const client = openClient(open("me"), { isCaseless });
    await client.sync();
    other.respell("guide.md", "Guide.md");
    await other.sync();
    other.later();
    await other.sync();
    expect([...live().keys()]).toEqual(["Guide.md"]);
    expect((await client.sync()).refused).toEqual([]);
    expect(client.names()).toEqual(["Guide.md"]);
    expect((await client.sync()).refused).toEqual([]);
  });
});

it("keeps the others' spelling of a file that was only spelled anew on a disk that ignores case", async () => {
  const { open, live } = makeMemoryRemote();
  const client = openClient(open("me"), { isCaseless: true });
  client.write("guide.md", memory("guide"));
  await client.sync();
  client.respell("guide.md", "Guide.md");
  client.write("Guide.md", memory("newer"));
  for (let i = 0; i < 3; i++) {
    expect((await client.sync()).refused).toEqual([]);
    client.later();
  }
  expect([...live()]).toEqual([["guide.md", memory("newer")]]);
});

it("a git branch takes no second spelling of a name", async () => {
  const place = makeGitPlace();
  const remote = place.open("ann");
  const put = (file: string) => ({ kind: "put", path: file, text: memory(file), expected: null }) as const;
  const outcomes = await remote.apply([put("guide.md"), put("Guide.md"), put("sub/a.md"), put("SUB/b.md")]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "refused", "done", "refused"]);
  expect((await remote.apply([put("GUIDE.md")]))[0]).toMatchObject({ kind: "refused", isPassing: true });
});
