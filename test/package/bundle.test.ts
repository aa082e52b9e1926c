/** A program that was bundled with the package into one file, in a folder without packages: it works, and says what it lacks. */

import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { makeTemporary } from "../temporary.ts";
import { makeWorld } from "../world.ts";

const DIST = resolve(import.meta.dirname, "../../dist");

const PROGRAM = `
import { openMemdir } from "memdir";
const memdir = await openMemdir();
await memdir.save({ type: "feedback", name: "use pnpm", description: "pnpm, not npm", body: "Use pnpm, never npm." });
const { memories, warnings } = await memdir.recall("do we use pnpm or npm?");
const { rows } = await memdir.verbs.list();
const tools = await memdir.tools();
console.log(JSON.stringify({ found: memories.map(({ file }) => file), listed: rows.length, tools: tools.length, warnings }));
`;

async function runBundled(env: Record<string, string>) {
  const folder = makeTemporary("bundled");
  const file = join(folder, "program.mjs");
  await build({
    stdin: { contents: PROGRAM, resolveDir: folder },
    ...{ bundle: true, minify: true, format: "esm", platform: "node", outfile: file, logLevel: "silent" },
    ...{ alias: { memdir: join(DIST, "index.js") }, external: ["fs-native-extensions"] },
  });
  const world = makeWorld({ env });
  return JSON.parse(
    execFileSync(process.execPath, [file], {
      ...{ cwd: world.project, env: world.env as NodeJS.ProcessEnv, encoding: "utf8" },
    }),
  );
}

it("saves, finds and gives tools; that the weights are missing is a warning", async () => {
  expect(await runBundled({ MEMDIR_MEANING: "1" })).toEqual({
    ...{ found: ["feedback_use_pnpm.md"], listed: 1, tools: 7 },
    warnings: [expect.stringMatching(/^recall went by words only: /)],
  });
});

it("says that the model's SDK is not in it, and what to do", async () => {
  const { found, warnings } = await runBundled({ MEMDIR_MODEL: "anthropic/claude-sonnet-5-5", ANTHROPIC_API_KEY: "k" });
  expect(found).toEqual(["feedback_use_pnpm.md"]);
  expect(warnings[0]).toMatch(
    /^recall went without the model: .*are not beside this program: give `ask` to openMemdir, or leave memdir out of the bundle$/,
  );
});
