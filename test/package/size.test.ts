/** How large the library's entries are in a program that bundles and minifies the package as it is published. */

import path from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";

const DIST = path.resolve(import.meta.dirname, "../../dist");
const KB = 1000;
/** What a program has of its own: the SDKs that it uses, and the native module, which no bundle can hold. */
const EXTERNAL = ["fs-native-extensions", "ai", "@anthropic-ai/sdk"];

type Outputs = Awaited<ReturnType<typeof bundle>>;

it.each([
  ["index.js", 700],
  ["memory-tool.js", 136],
  ["anthropic.js", 136],
  ["ai.js", 30],
])("%s in one file is at most %i KB", async (entry, most) => {
  const outputs = await bundle(entry, false);
  expect(sum(outputs, Object.keys(outputs)) / KB).toBeLessThanOrEqual(most);
});

it("what is loaded before the first call is at most 325 KB, where the bundler splits", async () => {
  const outputs = await bundle("index.js", true);
  const started = new Set<string>();
  const start = (name: string): void => {
    if (started.has(name)) return;
    started.add(name);
    for (const { path: next, kind, external } of outputs[name]?.imports ?? [])
      if (kind === "import-statement" && !external) start(next);
  };
  start(Object.keys(outputs).find((name) => outputs[name]?.entryPoint?.endsWith("index.js")) as string);
  expect(sum(outputs, started) / KB).toBeLessThanOrEqual(325);
});

async function bundle(entry: string, splitting: boolean) {
  const { metafile } = await build({
    entryPoints: [path.join(DIST, entry)],
    ...{ bundle: true, minify: true, splitting, format: "esm", platform: "node", write: false, outdir: "out" },
    ...{ metafile: true, logLevel: "silent", external: EXTERNAL },
  });
  return metafile.outputs;
}

function sum(outputs: Outputs, names: Iterable<string>): number {
  return [...names].reduce((bytes, name) => bytes + (outputs[name]?.bytes ?? 0), 0);
}
