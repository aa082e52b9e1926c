/** What every Remote has to do, whatever lies behind it. A backend's test file calls `describeRemote` and nothing else is needed. */

import { afterEach, describe, expect, it } from "vitest";
import type { RemoteEntry } from "../../src/team/protocol.ts";
import type { Remote, RemoteChange, RemoteOutcome } from "../../src/team/remote.ts";
import { sha256 } from "../../src/text/hash.ts";

export interface RemoteUnderTest {
  /** Another client of the same place; the name is who it writes as, where the remote keeps authors. */
  open(who: string): Remote | Promise<Remote>;
  cleanup(): unknown;
}

export interface ContractOptions {
  /** How many memories the test of many puts in. */
  many?: number;
}

export function describeRemote(
  name: string,
  makeRemote: () => Promise<RemoteUnderTest>,
  { many = 200 }: ContractOptions = {},
): void {
  describe(`remote: ${name}`, () => {
    const made: RemoteUnderTest[] = [];
    afterEach(async () => {
      for (const one of made.splice(0)) await one.cleanup();
    });

    async function make(): Promise<RemoteUnderTest> {
      const one = await makeRemote();
      made.push(one);
      return one;
    }
    async function openOne(): Promise<Remote> {
      return (await make()).open("ann");
    }

    it("is empty at first and says which remote it is", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const listing = await ann.list();
      expect(listing.entries).toEqual([]);
      expect(listing.id).not.toBe("");
      expect((await bob.list()).id).toBe(listing.id);
      expect(ann.name).not.toBe("");
      expect(await ann.fetch([])).toEqual(new Map());
      expect(await ann.apply([])).toEqual([]);
      expect(await ann.versions("none.md")).toEqual([]);
    });

    it("keeps a new memory, and another client reads it", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const done = await put(ann, "a.md", memory("a"), null);
      expect(done.kind).toBe("done");
      const entry = await find(bob, "a.md");
      expect(entry).toMatchObject({ path: "a.md", hash: sha256(memory("a")), deleted: false });
      expect(entry?.revision).toBe(revisionOf(done));
      expect(await text(bob, "a.md")).toBe(memory("a"));
      expect(entry?.at === "" || !Number.isNaN(Date.parse(entry?.at ?? "x"))).toBe(true);
    });

    it("keeps every byte of a text", async () => {
      const remote = await openOne();
      const texts = [
        "",
        "\n",
        "no end of line",
        "a\r\nb\r\n",
        "\uFEFFmark\n",
        "tab\t\u00a0\u{1f600} ümläut\n",
        "# x\n\n\n",
      ];
      const changes = texts.map(
        (body, i): RemoteChange => ({ kind: "put", path: `t${i}.md`, text: body, expected: null }),
      );
      const outcomes = await remote.apply(changes);
      const listing = await remote.list();
      const fetched = await remote.fetch(listing.entries);
      for (const [i, body] of texts.entries()) {
        // A remote may refuse a text for good, it may not change one.
        if (outcomes[i]?.kind === "refused") continue;
        expect(fetched.get(`t${i}.md`)).toBe(body);
        expect(listing.entries.find((entry) => entry.path === `t${i}.md`)?.hash).toBe(sha256(body));
      }
      expect(outcomes.filter(({ kind }) => kind === "done").length).toBeGreaterThanOrEqual(texts.length - 1);
    });

    it("refuses to write over what it was not told about: new", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const first = await put(ann, "a.md", memory("ann's"), null);
      const second = await put(bob, "a.md", memory("bob's"), null);
      expect(second).toMatchObject({ kind: "stale", path: "a.md" });
      expect(await find(bob, "a.md")).toMatchObject({
        hash: sha256(memory("ann's")),
        revision: revisionOf(first),
        deleted: false,
      });
      expect(await text(bob, "a.md")).toBe(memory("ann's"));
    });

    it("refuses a stale revision", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "a.md", memory("1"), null));
      const two = revisionOf(await put(ann, "a.md", memory("2"), one));
      expect(two).not.toBe(one);
      const stale = await put(bob, "a.md", memory("3"), one);
      expect(stale).toMatchObject({ kind: "stale" });
      expect((await put(bob, "a.md", memory("3"), two)).kind).toBe("done");
      expect(await text(ann, "a.md")).toBe(memory("3"));
    });

    it("answers stale when a revision of nothing is named", async () => {
      const remote = await openOne();
      const one = revisionOf(await put(remote, "a.md", memory("1"), null));
      const [outcome] = await remote.apply([{ kind: "put", path: "b.md", text: memory("b"), expected: one }]);
      expect(outcome).toEqual({ kind: "stale", path: "b.md" });
      expect(await find(remote, "b.md")).toBeUndefined();
    });

    it("takes the text that is there already, whatever was expected, without a new revision", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "a.md", memory("1"), null));
      const two = revisionOf(await put(ann, "a.md", memory("2"), one));
      for (const expected of [null, one, two]) {
        expect(await put(bob, "a.md", memory("2"), expected)).toEqual({ kind: "done", path: "a.md", revision: two });
      }
      expect((await ann.versions("a.md")).map((version) => version.text)).toEqual([memory("1"), memory("2")]);
    });

    it("gives a text that comes back a new revision", async () => {
      const remote = await openOne();
      const one = revisionOf(await put(remote, "a.md", memory("1"), null));
      const two = revisionOf(await put(remote, "a.md", memory("2"), one));
      const three = revisionOf(await put(remote, "a.md", memory("1"), two));
      expect(new Set([one, two, three]).size).toBe(3);
      // The first revision is long gone, although its text is the one that is there.
      expect((await put(remote, "a.md", memory("4"), one)).kind).toBe("stale");
    });

    it("lists a removed memory as a tombstone", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "a.md", memory("1"), null));
      const gone = await remove(bob, "a.md", one);
      expect(gone.kind).toBe("done");
      const entry = await find(ann, "a.md");
      expect(entry).toMatchObject({ path: "a.md", hash: "", deleted: true, revision: revisionOf(gone) });
      expect(entry?.revision).not.toBe(one);
      expect(await ann.fetch([entry as RemoteEntry])).toEqual(new Map());
    });

    it("refuses to remove what has changed", async () => {
      const remote = await openOne();
      const one = revisionOf(await put(remote, "a.md", memory("1"), null));
      revisionOf(await put(remote, "a.md", memory("2"), one));
      expect(await remove(remote, "a.md", one)).toMatchObject({ kind: "stale" });
      expect(await text(remote, "a.md")).toBe(memory("2"));
    });

    it("removes twice as once, and what never was", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "a.md", memory("1"), null));
      const first = await remove(ann, "a.md", one);
      const second = await remove(bob, "a.md", one);
      expect(second.kind).toBe("done");
      expect(revisionOf(second)).toBe(revisionOf(first));
      expect((await remove(bob, "never.md", one)).kind).toBe("done");
      expect((await ann.versions("a.md")).map((version) => version.text)).toEqual([memory("1"), null]);
      expect(await find(ann, "never.md")).toBeUndefined();
    });

    it("takes a new memory in the place of a tombstone", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "a.md", memory("1"), null));
      const gone = revisionOf(await remove(ann, "a.md", one));
      expect((await put(bob, "a.md", memory("old base"), one)).kind).toBe("stale");
      const again = await put(bob, "a.md", memory("2"), null);
      expect(again.kind).toBe("done");
      expect([one, gone]).not.toContain(revisionOf(again));
      expect(await find(ann, "a.md")).toMatchObject({ deleted: false, hash: sha256(memory("2")) });
      expect(await text(ann, "a.md")).toBe(memory("2"));
      // The same text as before the tombstone is a new text as well.
      const last = revisionOf(await remove(ann, "a.md", revisionOf(again)));
      const back = await put(ann, "a.md", memory("2"), null);
      expect(back.kind).toBe("done");
      expect(revisionOf(back)).not.toBe(last);
      expect(await text(bob, "a.md")).toBe(memory("2"));
    });

    it("keeps every version, oldest first", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const one = revisionOf(await put(ann, "sub/a.md", memory("1"), null));
      const two = revisionOf(await put(bob, "sub/a.md", memory("2"), one));
      const three = revisionOf(await remove(ann, "sub/a.md", two));
      const four = revisionOf(await put(bob, "sub/a.md", memory("4"), null));
      const versions = await bob.versions("sub/a.md");
      expect(versions.map((version) => version.text)).toEqual([memory("1"), memory("2"), null, memory("4")]);
      expect(versions.map((version) => version.revision)).toEqual([one, two, three, four]);
      expect(new Set(versions.map((version) => version.author)).size).toBeGreaterThanOrEqual(1);
      expect(await bob.versions("a.md")).toEqual([]);
    });

    it("leaves out of a fetch what changed or went since the listing", async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      await ann.apply(
        ["a", "b", "c"].map((x): RemoteChange => ({ kind: "put", path: `${x}.md`, text: memory(x), expected: null })),
      );
      const { entries } = await ann.list();
      const revision = (path: string) => entries.find((entry) => entry.path === path)?.revision ?? "";
      await put(bob, "a.md", memory("newer"), revision("a.md"));
      await remove(bob, "b.md", revision("b.md"));
      expect(await ann.fetch(entries)).toEqual(new Map([["c.md", memory("c")]]));
    });

    it("answers every change of one call in order, each for itself", async () => {
      const remote = await openOne();
      const one = revisionOf(await put(remote, "a.md", memory("1"), null));
      const outcomes = await remote.apply([
        { kind: "put", path: "new.md", text: memory("new"), expected: null },
        { kind: "put", path: "a.md", text: memory("2"), expected: null },
        { kind: "put", path: "../out.md", text: memory("out"), expected: null },
        { kind: "put", path: "other.md", text: memory("other"), expected: null },
        { kind: "remove", path: "a.md", expected: one },
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "stale", "refused", "done", "done"]);
      expect(outcomes.map(({ path }) => path)).toEqual(["new.md", "a.md", "../out.md", "other.md", "a.md"]);
      const { entries } = await remote.list();
      expect(
        entries
          .filter((entry) => !entry.deleted)
          .map((entry) => entry.path)
          .sort(),
      ).toEqual(["new.md", "other.md"]);
    });

    it("keeps names of every script, folders, and names that differ only in signs", async () => {
      const remote = await openOne();
      const paths = [
        "größe.md",
        "日本語/メモ.md",
        "with space.md",
        "a%20b.md",
        "a+b&c=d#e.md",
        "it's [x] {y}.md",
        "\u{1f600}.md",
        "one/two/three/four.md",
        "-dash.md",
        "a.md",
        "a/b.md",
        "a-b.md",
      ];
      const outcomes = await remote.apply(
        paths.map((path): RemoteChange => ({ kind: "put", path, text: memory(path), expected: null })),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(paths.map(() => "done"));
      const { entries } = await remote.list();
      expect(entries.map((entry) => entry.path).sort()).toEqual([...paths].sort());
      const fetched = await remote.fetch(entries);
      for (const path of paths) expect(fetched.get(path)).toBe(memory(path));
      expect((await remote.versions("größe.md")).map((version) => version.text)).toEqual([memory("größe.md")]);
    });

    it("refuses paths that no memory may have, and touches nothing", async () => {
      const remote = await openOne();
      const paths = [
        "",
        "..",
        "../a.md",
        "a/../../b.md",
        "/etc/a.md",
        "a\\b.md",
        "a%2fb.md",
        "C:/a.md",
        ".memdir/a.md",
        ".memdir-store/a.md",
        ".git/a.md",
        "a/.hidden.md",
        "MEMORY.md",
        "a.txt",
        "con.md",
        "a\u0000.md",
        "a\nb.md",
        "u\u0308.md",
        `${"x".repeat(300)}.md`,
        "1/2/3/4/5.md",
      ];
      const outcomes = await remote.apply(
        paths.map((path): RemoteChange => ({ kind: "put", path, text: memory("x"), expected: null })),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(paths.map(() => "refused"));
      expect(outcomes.map(({ path }) => path)).toEqual(paths);
      expect((await remote.list()).entries).toEqual([]);
    });

    it(`holds ${many} memories`, async () => {
      const place = await make();
      const ann = await place.open("ann");
      const bob = await place.open("bob");
      const paths = Array.from({ length: many }, (_, i) => `${i % 7}/note-${i}.md`);
      for (let from = 0; from < many; from += 50) {
        const outcomes = await ann.apply(
          paths
            .slice(from, from + 50)
            .map((path): RemoteChange => ({ kind: "put", path, text: memory(path), expected: null })),
        );
        expect(outcomes.every(({ kind }) => kind === "done")).toBe(true);
      }
      const { entries } = await bob.list();
      expect(entries.map((entry) => entry.path).sort()).toEqual([...paths].sort());
      const fetched = await bob.fetch(entries);
      expect(fetched.size).toBe(many);
      for (const path of paths) expect(fetched.get(path)).toBe(memory(path));
    });

    it("lets one of two writers win, each time, and loses nothing", async () => {
      const place = await make();
      const remotes = [await place.open("ann"), await place.open("bob")];
      let base = revisionOf(await put(remotes[0] as Remote, "a.md", memory("0"), null));
      const acknowledged = [memory("0")];
      for (let round = 1; round <= 4; round++) {
        const texts = remotes.map((_, i) => memory(`${round} by ${i}`));
        const outcomes = await Promise.all(remotes.map((remote, i) => put(remote, "a.md", texts[i] as string, base)));
        expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["done", "stale"]);
        const winner = outcomes.findIndex(({ kind }) => kind === "done");
        base = revisionOf(outcomes[winner] as RemoteOutcome);
        acknowledged.push(texts[winner] as string);
        expect(outcomes[1 - winner]).toMatchObject({ kind: "stale" });
      }
      expect((await (remotes[0] as Remote).versions("a.md")).map((version) => version.text)).toEqual(acknowledged);
    });

    it("takes writers of different memories at once", async () => {
      const place = await make();
      const remotes = await Promise.all(["ann", "bob", "cem"].map((who) => place.open(who)));
      const outcomes = await Promise.all(
        remotes.flatMap((remote, s) => [0, 1].map((i) => put(remote, `${s}-${i}.md`, memory(`${s} ${i}`), null))),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => "done"));
      expect((await (remotes[0] as Remote).list()).entries.length).toBe(6);
    });

    it("stops when told to, and is as before or done afterwards", async () => {
      const remote = await openOne();
      const one = revisionOf(await put(remote, "a.md", memory("1"), null));
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(remote.list(signal)).rejects.toThrow();
      await expect(remote.fetch((await remote.list()).entries, signal)).rejects.toThrow();
      await expect(remote.versions("a.md", signal)).rejects.toThrow();
      await expect(
        remote.apply([{ kind: "put", path: "a.md", text: memory("2"), expected: one }], signal),
      ).rejects.toThrow();
      expect(await text(remote, "a.md")).toBe(memory("1"));
      const during = new AbortController();
      const call = remote.apply([{ kind: "put", path: "a.md", text: memory("2"), expected: one }], during.signal);
      during.abort(new Error("enough"));
      const acknowledged = await call.then(
        () => true,
        () => false,
      );
      const now = await text(remote, "a.md");
      expect(acknowledged ? [memory("2")] : [memory("1"), memory("2")]).toContain(now);
      // Asking again is safe, whatever came of the first time.
      expect((await put(remote, "a.md", memory("2"), one)).kind).toBe("done");
      expect((await remote.versions("a.md")).map((version) => version.text)).toEqual([memory("1"), memory("2")]);
    });
  });
}

/** A memory as sync sends them, with these words in it. */
export function memory(words: string): string {
  return `---\nname: ${JSON.stringify(words)}\ndescription: about ${words.replaceAll(/[^\w ]/g, "")}\ntype: project\n---\n\nIt is ${words}.\n`;
}

async function put(remote: Remote, path: string, body: string, expected: string | null): Promise<RemoteOutcome> {
  const [outcome] = await remote.apply([{ kind: "put", path, text: body, expected }]);
  return outcome as RemoteOutcome;
}

async function remove(remote: Remote, path: string, expected: string): Promise<RemoteOutcome> {
  const [outcome] = await remote.apply([{ kind: "remove", path, expected }]);
  return outcome as RemoteOutcome;
}

async function find(remote: Remote, path: string): Promise<RemoteEntry | undefined> {
  return (await remote.list()).entries.find((entry) => entry.path === path);
}

async function text(remote: Remote, path: string): Promise<string | undefined> {
  const entry = await find(remote, path);
  return entry && (await remote.fetch([entry])).get(path);
}

function revisionOf(outcome: RemoteOutcome): string {
  expect(outcome).toMatchObject({ kind: "done" });
  return outcome.kind === "done" ? outcome.revision : "";
}
