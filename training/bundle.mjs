// Bundles rank.ts, which uses the product's sources, so that plain Node can run it.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));

/** @returns {Promise<typeof import("./rank.ts")>} */
export async function loadRank() {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "memdir-training-")), "rank.mjs");
  const find = `import { createRequire as __make } from "node:module"; const require = __make(${JSON.stringify(path.join(here, "../package.json"))});`;
  await build({
    entryPoints: [path.join(here, "rank.ts")],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    external: ["fs-native-extensions"],
    banner: { js: find },
    define: { "import.meta.url": JSON.stringify(pathToFileURL(path.join(here, "../src/meaning/meaning.ts")).href) },
  });
  return import(pathToFileURL(file).href);
}
