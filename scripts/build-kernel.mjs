#!/usr/bin/env node
// Compiles src/meaning/*.as and writes src/meaning/kernel-bytes.ts. Run it after a change; a test compares the two.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Not written into the import itself: tsc would take the compiler's global types, such as its own console, for ours. */
const COMPILER = "assemblyscript/asc";
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd", "--importMemory"];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  fs.writeFileSync(path.join(root, "src/meaning/kernel-bytes.ts"), await build());
}

/** The text of kernel-bytes.ts as it should be. @returns {Promise<string>} */
export async function build() {
  const kernel = await compile("kernel");
  const vocabulary = await compile("vocabulary");
  return `/** The compiled kernel.as and vocabulary.as in base64; written by scripts/build-kernel.mjs. */

export const KERNEL_BYTES =
  "${kernel}";

export const VOCABULARY_BYTES =
  "${vocabulary}";
`;
}

/**
 * The compiler asks for `.ts`; ours are named `.as` because neither tsc nor the linter can read them.
 * @param {string} name @returns {Promise<string>}
 */
async function compile(name) {
  const { default: asc } = await import(COMPILER);
  /** @type {Uint8Array | undefined} */
  let output;
  const { error, stderr } = await asc.main([`${name}.ts`, "--outFile", "out.wasm", ...OPTIONS], {
    readFile: (file) => {
      const source = path.join(root, "src/meaning", file.replace(/\.ts$/, ".as"));
      return source.endsWith(".as") && fs.existsSync(source) ? fs.readFileSync(source, "utf8") : null;
    },
    writeFile: (file, content) => {
      if (file === "out.wasm" && typeof content !== "string") output = content;
    },
    listFiles: () => [],
  });
  if (error || !output) throw new Error(`${name}.as does not compile\n${stderr}`);
  return Buffer.from(output).toString("base64");
}
