/** How large the library's entries are in a program that bundles and minifies them. */

import path from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";

const SRC = path.resolve(import.meta.dirname, "../../src");
const KB = 1024;

async function measure(entry: string): Promise<{ all: number; atStart: number }> {
  const { metafile } = await build({
    entryPoints: [path.join(SRC, entry)],
    ...{ bundle: true, minify: true, splitting: true, format: "esm", platform: "node", write: false, outdir: "out" },
    ...{ metafile: true, logLevel: "silent", define: { __MEMDIR_VERSION__: '""' } },
    external: [
      "fs-native-extensions",
      "@electric-sql/pglite",
      "pg-native",
      "ai",
      "@anthropic-ai/sdk",
      "openai",
      "marked",
    ],
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  });
  const { outputs } = metafile;
  const started = new Set<string>();
  const start = (name: string): void => {
    if (started.has(name)) return;
    started.add(name);
    for (const { path: next, kind, external } of outputs[name]?.imports ?? [])
      if (kind === "import-statement" && !external) start(next);
  };
  start(Object.keys(outputs).find((name) => outputs[name]?.entryPoint?.endsWith(entry)) as string);
  const sum = (names: Iterable<string>) => [...names].reduce((bytes, name) => bytes + (outputs[name]?.bytes ?? 0), 0);
  return { all: sum(Object.keys(outputs)), atStart: sum(started) };
}

it.each([
  // Everything that verbs load when they are called is counted in the first number; a program loads the second.
  ["index.ts", 1150 * KB, 320 * KB],
  ["memory-tool/memory-tool.ts", 190 * KB, 136 * KB],
  ["anthropic.ts", 200 * KB, 145 * KB],
  ["ai.ts", 140 * KB, 10 * KB],
])("%s stays within its budget", async (entry, all, atStart) => {
  const size = await measure(entry);
  expect([entry, size.all <= all, size.atStart <= atStart, size]).toEqual([entry, true, true, size]);
});
