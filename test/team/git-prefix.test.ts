import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withPrefix } from "../../src/team/remote.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { makeTemporary } from "../temporary.ts";
import { find, makeGitPlace, put, readText } from "./git-place.ts";
import { directoryAt } from "./sync-world.ts";

it("makes one commit of each sync, however much it is", async () => {
  const place = makeGitPlace();
  const folder = makeTemporary("git", "memory");
  const directory = directoryAt(folder, place);
  const sync = () => syncDirectory({ directory, remote: withPrefix(place.open("ann"), "user/"), who: "ann" });
  const file = (i: number) => join(folder, `note-${i}.md`);
  const write = (i: number, text: string) =>
    writeFileSync(file(i), `---\nname: note ${i}\ndescription: d\ntype: user\n---\n\n${text}\n`);
  for (let i = 0; i < 45; i++) write(i, "one");
  expect((await sync()).pushed.length).toBe(45);
  expect(place.git("rev-list", "--count", "memdir")).toBe("1");
  write(0, "two");
  rmSync(file(1));
  await sync();
  place.now = new Date(place.now.getTime() + 31_000);
  write(2, "two");
  expect(await sync()).toMatchObject({ pushed: ["note-2.md"], removed: { there: ["note-1.md"] } });
  expect(place.git("rev-list", "--count", "memdir")).toBe("3");
});

describe("withPrefix", () => {
  it("shows one folder of a remote as a remote", async () => {
    const remote = makeGitPlace().open("ann");
    const [user, app] = [withPrefix(remote, "user/"), withPrefix(remote, "app-1/")];
    await put(user, "a.md", "user's");
    await put(app, "a.md", "app's");
    await put(remote, "user/MEMORY.more.md", "a memory there, an overflow page here");
    expect(await readText(user, "a.md")).toBe("user's");
    expect(await readText(app, "a.md")).toBe("app's");
    expect((await user.list()).entries.map((entry) => entry.path)).toEqual(["a.md"]);
    expect((await user.list()).id).not.toBe((await app.list()).id);
    expect(user.name).toBe(`${remote.name}/user`);
    expect((await user.versions("a.md")).map((version) => version.text)).toEqual(["user's"]);
    const stale = await put(user, "a.md", "other");
    expect(stale).toMatchObject({ kind: "stale", path: "a.md" });
    expect(await find(remote, "user/a.md")).toBeDefined();
  });

  it("lets no path out of it, and answers in order", async () => {
    const remote = makeGitPlace().open("ann");
    const user = withPrefix(remote, "user/");
    const outcomes = await user.apply([
      { kind: "put", path: "../b.md", text: "x", expected: null },
      { kind: "put", path: "b.md", text: "x", expected: null },
      { kind: "put", path: "1/2/3/b.md", text: "x", expected: null },
      { kind: "put", path: "1/2/b.md", text: "x", expected: null },
    ]);
    expect(outcomes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "refused ../b.md",
      "done b.md",
      "refused 1/2/3/b.md",
      "done 1/2/b.md",
    ]);
    expect(await user.versions("../user/b.md")).toEqual([]);
    expect((await remote.list()).entries.map((entry) => entry.path)).toEqual(["user/1/2/b.md", "user/b.md"]);
  });
});
