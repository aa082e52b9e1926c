import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Remote, RemoteChange } from "../../src/team/remote.ts";
import { sha256 } from "../../src/text/hash.ts";
import { PATIENT } from "../until.ts";
import { find, type GitPlace, makeGitPlace, put, readText } from "./git-place.ts";

describe("what is on the branch", () => {
  it("makes the branch with its first push, without a parent, and touches no other one", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann", { branch: "notes/own" });
    expect((await put(ann, "a.md", "one")).kind).toBe("done");
    expect(place.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/notes/own");
    expect(place.git("log", "--format=%an <%ae> %aI %s", "notes/own")).toBe(
      "ann <ann@example.invalid> 2026-03-10T12:00:00+00:00 memdir: write a.md",
    );
    await put(ann, "b.md", "two");
    expect(place.git("rev-list", "--count", "notes/own")).toBe("2");
  });

  it("makes one commit of all changes of a call", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await ann.apply(
      ["a", "b", "c"].map((x): RemoteChange => ({ kind: "put", path: `${x}.md`, text: x, expected: null })),
    );
    expect(place.git("rev-list", "--count", "memdir")).toBe("1");
    expect(place.git("log", "--format=%s", "memdir")).toBe("memdir: write 3");
  });

  it("says who wrote each memory last, and when", async () => {
    const place = makeGitPlace();
    const [ann, bob] = [place.open("ann"), place.open("bob")];
    await put(ann, "a.md", "one");
    await put(ann, "b.md", "one");
    place.now = new Date("2026-03-11T08:00:00.000Z");
    const entry = await find(bob, "a.md");
    await put(bob, "a.md", "two", entry?.revision);
    await bob.apply([{ kind: "remove", path: "b.md", expected: (await find(bob, "b.md"))?.revision ?? "" }]);
    expect(await find(ann, "a.md")).toMatchObject({ author: "bob", at: "2026-03-11T08:00:00.000Z" });
    expect(await find(ann, "b.md")).toMatchObject({ author: "bob", at: "2026-03-11T08:00:00.000Z", deleted: true });
    // A client that sees all of history at once knows the same.
    expect((await place.open("cem").list()).entries).toEqual((await ann.list()).entries);
  });

  it("leaves alone what is no memory, and nothing takes its place", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    place.byHand((folder) => {
      fs.writeFileSync(path.join(folder, "picture.png"), Buffer.from([0, 1, 2]));
      fs.writeFileSync(path.join(folder, "MEMORY.md"), "index");
      fs.writeFileSync(path.join(folder, "latin.md"), Buffer.from([0x66, 0xfc, 0x72]));
      fs.writeFileSync(path.join(folder, "huge.md"), "x".repeat(300_000));
      fs.symlinkSync("a.md", path.join(folder, "link.md"));
      fs.mkdirSync(path.join(folder, "folder.md"));
      fs.writeFileSync(path.join(folder, "folder.md", "in.md"), "inside");
      fs.writeFileSync(path.join(folder, ".hidden.md"), "hidden");
    });
    const tree = place.git("ls-tree", "-r", "memdir");
    const { entries } = await ann.list();
    expect(entries.map((entry) => entry.path)).toEqual(["a.md", "folder.md/in.md"]);
    expect(place.logged.join("\n")).toContain("huge.md");
    for (const file of ["latin.md", "huge.md", "link.md", "folder.md", "a.md/b.md", "link.md/b.md"])
      expect(await put(ann, file, "new"), file).toMatchObject({ kind: "refused" });
    expect(place.git("ls-tree", "-r", "memdir")).toBe(tree);
    await put(ann, "b.md", "two");
    expect(place.git("ls-tree", "-r", "memdir").split("\n")).toEqual(expect.arrayContaining(tree.split("\n")));
  });

  it("ignores a submodule in the tree", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    const tip = place.git("rev-parse", "memdir");
    place.byHand((folder) => {
      execFileSync("git", ["update-index", "--add", "--cacheinfo", `160000,${tip},sub.md`], { cwd: folder });
      fs.mkdirSync(path.join(folder, "sub.md"));
    });
    expect(place.git("ls-tree", "memdir")).toContain("160000 commit");
    expect((await ann.list()).entries.map((entry) => entry.path)).toEqual(["a.md"]);
    expect(await put(ann, "sub.md", "x")).toMatchObject({ kind: "refused" });
    expect((await put(ann, "b.md", "two")).kind).toBe("done");
    expect(place.git("ls-tree", "memdir")).toContain("160000 commit");
  });

  it("takes what was written, renamed and removed by hand as such", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    for (const name of ["a", "b", "c"]) await put(ann, `${name}.md`, name);
    await ann.list();
    place.byHand((folder) => {
      fs.writeFileSync(path.join(folder, "a.md"), "by hand");
      fs.renameSync(path.join(folder, "b.md"), path.join(folder, "renamed.md"));
      fs.rmSync(path.join(folder, "c.md"));
    });
    const { entries } = await ann.list();
    expect(entries.map((entry) => `${entry.path}${entry.deleted ? " gone" : ""}`)).toEqual([
      "a.md",
      "b.md gone",
      "c.md gone",
      "renamed.md",
    ]);
    expect(entries[0]).toMatchObject({ author: "hand", hash: sha256("by hand") });
  });

  it("refuses texts that are too large or no text", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    expect(await put(ann, "a.md", "x".repeat(250_001))).toMatchObject({ kind: "refused" });
    expect(await put(ann, "a.md", "\ud800")).toMatchObject({ kind: "refused" });
    expect((await put(ann, "a.md", "x".repeat(250_000))).kind).toBe("done");
  });

  it("keeps the history of a merge by hand readable", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    const first = await put(ann, "a.md", "one");
    await put(ann, "b.md", "one");
    place.byHand((folder) => {
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=h", "-c", "user.email=h@h", ...args], { cwd: folder });
      git("checkout", "-q", "-b", "side", "HEAD~1");
      fs.writeFileSync(path.join(folder, "side.md"), "side");
      git("add", "side.md");
      git("commit", "-qm", "side");
      git("checkout", "-q", "memdir");
      git("merge", "-q", "--no-ff", "-m", "merge", "side");
    });
    const { entries } = await ann.list();
    expect(entries.map((entry) => entry.path)).toEqual(["a.md", "b.md", "side.md"]);
    expect(entries[0]?.revision).toBe(first.kind === "done" && first.revision);
    expect((await place.open("bob").list()).entries).toEqual(entries);
  });
});

describe("several clients", () => {
  it("loses no write when many push at once", async () => {
    const place = makeGitPlace();
    const remotes = ["ann", "bob", "cem", "dia"].map((who) => place.open(who, { random: () => 0.5 }));
    await Promise.all(
      remotes.map(async (remote, s) => {
        for (let i = 0; i < 3; i++) expect((await put(remote, `${s}-${i}.md`, `${s} ${i}`)).kind).toBe("done");
      }),
    );
    expect((await (remotes[0] as Remote).list()).entries.length).toBe(12);
    expect(place.git("rev-list", "--count", "memdir")).toBe("12");
    // In line: nothing was forced, nothing merged.
    expect(place.git("rev-list", "--merges", "--count", "memdir")).toBe("0");
  });

  it("shares one cache between clients and remotes", async () => {
    const place = makeGitPlace();
    const cache = path.join(place.top, "shared");
    const other = makeGitPlace();
    const remotes = [
      place.open("ann", { cache }),
      place.open("bob", { cache }),
      place.open("ann", { cache, branch: "second" }),
      other.open("ann", { cache }),
    ];
    await Promise.all(remotes.map((remote, i) => put(remote, `${i}.md`, `text ${i}`)));
    const lists = await Promise.all(remotes.map((remote) => remote.list()));
    expect(lists.map(({ entries }) => entries.map((entry) => entry.path))).toEqual([
      ["0.md", "1.md"],
      ["0.md", "1.md"],
      ["2.md"],
      ["3.md"],
    ]);
    expect(new Set(lists.map(({ id }) => id)).size).toBe(3);
  });

  it("says that others were faster when they always are", async () => {
    const place = makeGitPlace();
    const bob = place.open("bob");
    await put(bob, "a.md", "0");
    let count = 0;
    // Another client pushes whenever ann has made her commit; the clock is asked right before.
    const ann = place.open("ann", {
      random: () => 0,
      now: () => {
        const next = place.git("commit-tree", "memdir^{tree}", "-p", "memdir", "-m", `busy ${count++}`);
        place.git("update-ref", "refs/heads/memdir", next);
        return place.now;
      },
    });
    await expect(put(ann, "b.md", "1")).rejects.toMatchObject({ code: "network" });
    expect(count).toBe(12);
    expect(await find(bob, "b.md")).toBeUndefined();
  });
});

describe("a remote that fails", () => {
  it("fails as network when the remote vanishes, and goes on when it is back", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    const { entries } = await ann.list();
    fs.renameSync(place.remote, `${place.remote}.away`);
    await expect(ann.list()).rejects.toMatchObject({ code: "network" });
    await expect(ann.fetch(entries)).rejects.toMatchObject({ code: "network" });
    await expect(put(ann, "b.md", "two")).rejects.toMatchObject({ code: "network" });
    await expect(ann.versions("a.md")).rejects.toMatchObject({ code: "network" });
    fs.renameSync(`${place.remote}.away`, place.remote);
    expect((await ann.list()).entries).toEqual(entries);
    expect((await put(ann, "b.md", "two")).kind).toBe("done");
    expect(place.git("rev-list", "--count", "memdir")).toBe("2");
  });

  it("cuts off a remote that hangs, with all that it started", async () => {
    const place = makeGitPlace();
    const started = path.join(place.top, "started");
    const ssh = fakeSsh(place, `echo $$ > '${started}'; exec sleep 30`);
    const ann = place.open("ann", { remote: "host.invalid:notes", env: ssh, timeoutMs: 400 });
    await expect(ann.list()).rejects.toThrow(/host\.invalid:notes.* did not answer within 0\.4 s/);
    const pid = Number(fs.readFileSync(started, "utf8"));
    await expect.poll(() => isAlive(pid), PATIENT).toBe(false);
  });

  it("stops a remote that hangs when it is told to", async () => {
    const place = makeGitPlace();
    const started = path.join(place.top, "started");
    const ssh = fakeSsh(place, `echo $$ > '${started}'; trap '' TERM; while :; do sleep 0.1; done`);
    const ann = place.open("ann", { remote: "ssh://host.invalid/notes", env: ssh });
    const controller = new AbortController();
    const call = ann.list(controller.signal);
    await expect.poll(() => fs.existsSync(started), PATIENT).toBe(true);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "network" });
    await expect.poll(() => isAlive(Number(fs.readFileSync(started, "utf8"))), PATIENT).toBe(false);
  });

  it("works through ssh", async () => {
    const place = makeGitPlace();
    // The last argument is what the other side is to run.
    const env = fakeSsh(place, `for last; do :; done; eval "$last"`);
    const ann = place.open("ann", { remote: `ann@host.invalid:${place.remote}`, env });
    expect((await put(ann, "a.md", "one")).kind).toBe("done");
    expect(await readText(place.open("bob"), "a.md")).toBe("one");
  });

  it("finds a push done whose answer was lost", async () => {
    const place = makeGitPlace();
    await put(place.open("bob"), "a.md", "one");
    const ann = place.open("ann");
    const { revision = "" } = (await find(ann, "a.md")) ?? {};
    // The other side dies when it has moved the branch and before it has said so.
    const hook = path.join(place.remote, "hooks", "reference-transaction");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    fs.writeFileSync(hook, '#!/bin/sh\n[ "$1" = committed ] && kill -9 $PPID\nexit 0\n', { mode: 0o755 });
    await expect(put(ann, "a.md", "two", revision)).rejects.toMatchObject({ code: "network" });
    fs.rmSync(hook);
    expect(place.git("show", "memdir:a.md")).toBe("two");
    expect(await find(ann, "a.md")).toMatchObject({ author: "ann", hash: sha256("two") });
    expect((await put(ann, "a.md", "two", revision)).kind).toBe("done");
    expect((await ann.versions("a.md")).map((version) => version.text)).toEqual(["one", "two"]);
  });

  it("says why a remote refuses, and does not try again", async () => {
    const place = makeGitPlace();
    const hook = path.join(place.remote, "hooks", "pre-receive");
    fs.mkdirSync(path.dirname(hook), { recursive: true });
    fs.writeFileSync(hook, "#!/bin/sh\necho not today >&2\nexit 1\n", { mode: 0o755 });
    await expect(put(place.open("ann"), "a.md", "one")).rejects.toThrow(/pre-receive hook declined/);
    fs.rmSync(hook);
    expect((await put(place.open("ann"), "a.md", "one")).kind).toBe("done");
  });

  it("says so when the branch stays locked", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann", { random: () => 0 });
    await put(ann, "a.md", "one");
    const lock = path.join(place.remote, "refs", "heads", "memdir.lock");
    fs.writeFileSync(lock, "");
    await expect(put(ann, "b.md", "two")).rejects.toThrow(/does not accept changes .*lock that was left behind/);
    fs.rmSync(lock);
    expect((await put(ann, "b.md", "two")).kind).toBe("done");
  });

  it("takes a history that somebody rewrote, says so, and keeps the former one", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    await put(ann, "b.md", "two");
    const before = place.git("rev-parse", "memdir");
    place.byHand((folder) => fs.writeFileSync(path.join(folder, "c.md"), "three"), { force: true, amend: true });
    expect((await ann.list()).entries.map((entry) => entry.path)).toEqual(["a.md", "b.md", "c.md"]);
    expect(place.logged.join("\n")).toMatch(/was rewritten/);
    expect(await readText(ann, "c.md")).toBe("three");
    expect((await put(ann, "d.md", "four")).kind).toBe("done");
    const repository = path.join(place.cacheOf("ann"), "repository.git");
    expect(execFileSync("git", ["--git-dir", repository, "cat-file", "-t", before], { encoding: "utf8" }).trim()).toBe(
      "commit",
    );
  });

  it("makes a branch anew that somebody removed, without tombstones", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    await put(ann, "a.md", "one");
    place.git("update-ref", "-d", "refs/heads/memdir");
    expect((await ann.list()).entries).toEqual([]);
    expect(place.logged.join("\n")).toMatch(/is gone/);
    expect((await put(ann, "a.md", "one")).kind).toBe("done");
    expect(place.git("rev-list", "--count", "memdir")).toBe("1");
  });

  it("reads a remote that is itself shallow", async () => {
    const place = makeGitPlace();
    const ann = place.open("ann");
    for (const text of ["one", "two", "three"]) await put(ann, `${text}.md`, text);
    const shallow = path.join(place.top, "shallow.git");
    execFileSync("git", ["clone", "-q", "--bare", "--depth=1", "--branch=memdir", `file://${place.remote}`, shallow], {
      stdio: "ignore",
    });
    const bob = place.open("bob", { remote: shallow });
    expect((await bob.list()).entries.map((entry) => entry.path)).toEqual(["one.md", "three.md", "two.md"]);
    expect(await readText(bob, "one.md")).toBe("one");
    expect((await put(bob, "four.md", "four")).kind).toBe("done");
  });
});

describe("the cache", () => {
  it("is made anew when it is damaged", async () => {
    const place = makeGitPlace();
    await put(place.open("ann"), "a.md", "one");
    fs.writeFileSync(path.join(place.cacheOf("ann"), "repository.git", "config"), "[nonsense");
    // Another process: nothing is remembered.
    const again = place.open("ann");
    expect((await put(again, "b.md", "two")).kind).toBe("done");
    expect((await again.fetch((await again.list()).entries)).size).toBe(2);
    expect(place.logged.join("\n")).toMatch(/is damaged; it is fetched again/);
  });

  it("takes no harm from a process that died between commit and push", async () => {
    const place = makeGitPlace();
    for (const [file, isFirst] of [
      ["a.md", true],
      ["b.md", false],
    ] as const) {
      const away = `${place.remote}.away`;
      const ann = place.open("ann", {
        now: () => {
          fs.renameSync(place.remote, away);
          return place.now;
        },
      });
      await expect(put(ann, file, "lost")).rejects.toMatchObject({ code: "network" });
      fs.renameSync(away, place.remote);
      const again = place.open("ann");
      expect((await again.list()).entries.map((entry) => entry.path)).toEqual(isFirst ? [] : ["a.md"]);
      expect((await put(again, file, "kept")).kind).toBe("done");
      expect((await again.versions(file)).map((version) => version.text)).toEqual(["kept"]);
    }
    expect(place.git("rev-list", "--count", "memdir")).toBe("2");
  });

  it("runs no hooks and heeds no settings that would change what is sent", async () => {
    const place = makeGitPlace();
    const ran = path.join(place.top, "ran");
    const hooks = path.join(place.top, "hooks");
    fs.mkdirSync(hooks);
    for (const name of ["pre-push", "reference-transaction", "post-index-change"])
      fs.writeFileSync(path.join(hooks, name), `#!/bin/sh\necho ${name} >> '${ran}'\n`, { mode: 0o755 });
    fs.writeFileSync(
      path.join(place.top, "home", ".gitconfig"),
      `[core]\nhooksPath = ${hooks}\nautocrlf = true\n[commit]\ngpgSign = true\n[push]\ngpgSign = if-asked\nfollowTags = true\n[user]\nuseConfigOnly = true\n[init]\ndefaultObjectFormat = sha256\n[log]\nshowSignature = true\n`,
    );
    fs.writeFileSync(
      path.join(place.remote, "config"),
      "[core]\nrepositoryformatversion = 0\nbare = true\n[core]\nhooksPath = /dev/null\n",
    );
    const ann = place.open("ann");
    expect((await put(ann, "a.md", "a\r\nb\n")).kind).toBe("done");
    expect(await readText(place.open("bob"), "a.md")).toBe("a\r\nb\n");
    expect(fs.existsSync(ran)).toBe(false);
  });

  it("is not led elsewhere by variables of a git that runs us", async () => {
    const place = makeGitPlace();
    const env = {
      ...place.env,
      GIT_DIR: "/nonexistent",
      GIT_INDEX_FILE: "/nonexistent",
      GIT_OBJECT_DIRECTORY: "/nonexistent",
      GIT_TRACE: "1",
      GIT_DEFAULT_HASH: "sha256",
      GIT_NAMESPACE: "x",
    };
    expect((await put(place.open("ann", { env }), "a.md", "one")).kind).toBe("done");
    expect(await readText(place.open("bob"), "a.md")).toBe("one");
  });

  it("says when it cannot be written", async () => {
    const place = makeGitPlace();
    fs.writeFileSync(path.join(place.top, "file"), "");
    const ann = place.open("ann", { cache: path.join(place.top, "file", "cache") });
    await expect(ann.list()).rejects.toMatchObject({ code: "disk" });
  });

  it("says when there is no git", async () => {
    const place = makeGitPlace();
    await expect(place.open("ann", { env: { PATH: place.top } }).list()).rejects.toThrow(/git cannot be run/);
  });
});

function fakeSsh(place: GitPlace, script: string) {
  const file = path.join(place.top, `ssh-${fs.readdirSync(place.top).length}`);
  fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...place.env, GIT_SSH_COMMAND: `'${file}'`, GIT_SSH_VARIANT: "ssh" };
}

/** Where nobody collects the dead, they keep their number. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
