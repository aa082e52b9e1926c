import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeGitPlace, put } from "./git-place.ts";

describe("the cache of the git remote", () => {
  const damages: Record<string, (repository: string, cache: string) => void> = {
    "no HEAD": (repository) => fs.rmSync(path.join(repository, "HEAD")),
    "HEAD with nonsense": (repository) => fs.writeFileSync(path.join(repository, "HEAD"), "nonsense"),
    "a config with nonsense": (repository) => fs.writeFileSync(path.join(repository, "config"), "[nonsense"),
    "objects removed": (repository) => empty(path.join(repository, "objects")),
    "objects cut": (repository) => forFiles(path.join(repository, "objects"), (file) => fs.writeFileSync(file, "x")),
    "refs with nonsense": (repository) =>
      forFiles(path.join(repository, "refs"), (file) => fs.writeFileSync(file, "x")),
    "a lock left behind": (repository) =>
      forFiles(path.join(repository, "refs"), (file) => fs.writeFileSync(`${file}.lock`, "")),
    "a file in its place": (repository) => {
      fs.rmSync(repository, { recursive: true });
      fs.writeFileSync(repository, "x");
    },
    "history with nonsense": (_, cache) =>
      forFiles(
        cache,
        (file) => path.basename(file).startsWith("history-") && fs.writeFileSync(file, '{"format":1,"tip":"x"}'),
      ),
    "all of it gone": (_, cache) => fs.rmSync(cache, { recursive: true }),
  };
  it.each(Object.entries(damages))("is made anew when damaged: %s", async (_, damage) => {
    const place = makeGitPlace();
    const [ann, bob] = [place.open("ann"), place.open("bob")];
    await put(ann, "a.md", "one");
    await put(ann, "b.md", "two");
    const before = await ann.list();
    await put(bob, "c.md", "three");
    const cache = place.cacheOf("ann");
    damage(path.join(cache, "repository.git"), cache);
    // Another process: nothing is remembered.
    const again = place.open("ann");
    const { entries } = await again.list();
    expect(entries.slice(0, 2)).toEqual(before.entries);
    expect((await again.fetch(entries)).size).toBe(3);
    expect((await put(again, "d.md", "four")).kind).toBe("done");
    damage(path.join(cache, "repository.git"), cache);
    expect((await put(place.open("ann"), "e.md", "five")).kind).toBe("done");
    expect((await bob.list()).entries.length).toBe(5);
  });

  it.skipIf(process.platform === "win32")("runs nothing that was written into its configuration", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    const [marker, program] = [path.join(place.top, "ran"), path.join(place.top, "program")];
    fs.writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`, { mode: 0o755 });
    const repository = path.join(place.cacheOf("ann"), "repository.git");
    const config = path.join(repository, "config");
    const before = fs.readFileSync(config, "utf8");
    const remote = `[remote "${place.remote}"]\n\tuploadpack = ${program}\n\treceivepack = ${program}\n`;
    const core = `[core]\n\tfsmonitor = ${program}\n\tsshCommand = ${program}\n\talternateRefsCommand = ${program}\n`;
    const url = `[url "ext::${program} "]\n\tinsteadOf = ${place.remote}\n[protocol "ext"]\n\tallow = always\n`;
    const included = path.join(place.top, "included");
    fs.writeFileSync(included, remote);
    for (const more of [remote, core, url, `[include]\n\tpath = ${included}\n`, `[core] sshCommand = ${program}\n`]) {
      fs.writeFileSync(config, before + more);
      expect((await place.open("ann").list()).entries).toHaveLength(1);
      expect(fs.existsSync(marker), more).toBe(false);
      expect(fs.readFileSync(config, "utf8").replace(/\s*\[core\]\s*$/, "\n"), more).toBe(before);
    }
    expect((await put(place.open("ann"), "b.md", "two")).kind).toBe("done");
    expect(fs.existsSync(marker)).toBe(false);
  });
});

function empty(folder: string): void {
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true });
}

function forFiles(folder: string, work: (file: string) => unknown): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    fs.chmodSync(file, 0o644);
    work(file);
  }
}
