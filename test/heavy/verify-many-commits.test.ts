/** `memdir verify` where the history is longer than anybody waits: bounded, and said so. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeWorld, memdir, removeWorlds } from "./fixtures/heavy.ts";

afterEach(removeWorlds);

const COMMITS = 200_000;

test("C35 200,000 commits: the newest are looked at, and what is older stays unknown", async () => {
  const world = makeWorld();
  const git = (args: readonly string[], input?: string) =>
    execFileSync("git", args, { cwd: world.project, input, stdio: ["pipe", "pipe", "ignore"], env: world.env });
  git(["init", "-q", "-b", "main"]);
  git(["fast-import", "--quiet"], history());
  git(["checkout", "-q", "-f", "main"]);
  mkdirSync(world.memory);
  writeFileSync(
    path.join(world.memory, "places.md"),
    "---\nname: places\ndescription: where things are\ntype: project\n---\n\nSee src/moved.ts, then src/early.ts. `keptThing` stays, `earlyThing` and `lateThing` do, too.\n",
  );
  const { code, out, err } = await memdir(world, ["verify", "--json", "--all"]);
  expect(code, err).toBe(1);
  const { problems, notes } = JSON.parse(out) as { problems: { claim: string; verdict: string }[]; notes: string[] };
  expect(problems.map(({ claim, verdict }) => `${claim} ${verdict}`)).toEqual(["src/moved.ts moved", "lateThing gone"]);
  expect(notes).toEqual(["only the newest 20000 commits were checked, back to 2017-11-16"]);
});

/** One file goes at the beginning, one is renamed and one loses a line near the end; between them a counter is written. */
function history(): string {
  const put = (file: string, text: string) => `M 100644 inline ${file}\ndata ${text.length}\n${text}\n`;
  const kept = "export function keptThing() {}\n";
  const changes = new Map([
    [
      0,
      [
        put("src/moved.ts", "export function movedThing() {}\n"),
        put("src/kept.ts", `${kept}export function lateThing() {}\n`),
        put("src/early.ts", "export function earlyThing() {}\n"),
      ].join(""),
    ],
    [10, "D src/early.ts\n"],
    [COMMITS - 60, put("src/kept.ts", kept)],
    [COMMITS - 50, "R src/moved.ts src/here.ts\n"],
  ]);
  return Array.from({ length: COMMITS }, (_, i) => {
    const committer = `t <t@example.invalid> ${1_500_000_000 + i * 60} +0000`;
    return `commit refs/heads/main\ncommitter ${committer}\ndata 1\nx\n${changes.get(i) ?? put("count.txt", `${i}\n`)}\n`;
  }).join("");
}
