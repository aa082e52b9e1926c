// Bundles a TypeScript file that uses the product's sources, so that plain Node can run it.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = path.join(import.meta.dirname, "..");

/**
 * @param {Record<string, string>} instead files to use in place of others, by their names
 * @returns {Promise<any>} what the file exports
 */
export async function loadSource(entry, instead = {}) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "memdir-training-")), "bundle.mjs");
  const find = `import { createRequire as __make } from "node:module"; const require = __make(${JSON.stringify(path.join(root, "package.json"))});`;
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    external: ["fs-native-extensions"],
    // Modules that are also loaded late are wrapped: their first run must not be left out as free of side effects.
    ignoreAnnotations: true,
    plugins: [{ name: "instead", setup: (build) => replaceFiles(build, instead) }],
    banner: { js: find },
    define: { "import.meta.url": JSON.stringify(pathToFileURL(path.join(root, "src/meaning/meaning.ts")).href) },
  });
  return import(pathToFileURL(file).href);
}

function replaceFiles(build, instead) {
  build.onResolve({ filter: /^\./ }, ({ path: name }) => {
    const file = instead[path.basename(name)];
    return file === undefined ? undefined : { path: file };
  });
}
