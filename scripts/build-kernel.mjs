#!/usr/bin/env node
// Compiles the .as files and writes them as base64 beside them. Run it after a change; a test compares the two.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
/** Not written into the import itself: tsc would take the compiler's global types, such as its own console, for ours. */
const COMPILER = "assemblyscript/asc";
const OPTIONS = ["-O3", "--noAssert", "--runtime", "stub", "--enable", "simd", "--importMemory"];
const RELAXED = ["--enable", "relaxed-simd"];

/** Each file of bytes, with the name, source and further options of what it holds. */
const OUTPUTS = {
  "src/meaning/kernel-bytes.ts": [
    ["KERNEL", "src/meaning/kernel.as", RELAXED],
    ["PLAIN_KERNEL", "src/meaning/kernel.as", []],
    ["VOCABULARY", "src/meaning/vocabulary.as", []],
  ],
  "src/recall/scan-bytes.ts": [["SCAN", "src/recall/scan.as", []]],
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(await build())) fs.writeFileSync(path.join(root, file), text);
}

/** The files of bytes as they should be. @returns {Promise<Record<string, string>>} */
export async function build() {
  /** @type {Record<string, string>} */
  const files = {};
  for (const [file, modules] of Object.entries(OUTPUTS)) {
    const names = [...new Set(modules.map(([, source]) => path.basename(source)))].join(" and ");
    files[file] = `/** The compiled ${names} in base64; written by scripts/build-kernel.mjs. */\n`;
    for (const [name, source, options] of modules)
      files[file] += `\nexport const ${name}_BYTES =\n  "${await compile(source, options)}";\n`;
  }
  return files;
}

/**
 * The compiler asks for `.ts`; ours are named `.as` because neither tsc nor the linter can read them.
 * @param {string} source @param {string[]} options @returns {Promise<string>}
 */
async function compile(source, options) {
  const folder = path.join(root, path.dirname(source));
  const name = path.basename(source, ".as");
  const { default: asc } = await import(COMPILER);
  /** @type {Uint8Array | undefined} */
  let output;
  const { error, stderr } = await asc.main([`${name}.ts`, "--outFile", "out.wasm", ...OPTIONS, ...options], {
    readFile: (file) => {
      const full = path.join(folder, file.replace(/\.ts$/, ".as"));
      return full.endsWith(".as") && fs.existsSync(full) ? fs.readFileSync(full, "utf8") : null;
    },
    writeFile: (file, content) => {
      if (file === "out.wasm" && typeof content !== "string") output = content;
    },
    listFiles: () => [],
  });
  if (error || !output) throw new Error(`${source} does not compile\n${stderr}`);
  return Buffer.from(output).toString("base64");
}
