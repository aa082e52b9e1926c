#!/usr/bin/env node
// Prints the tree by file: tree.mjs [folder]. One line per file of src/, described by the first sentence of its opening comment.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of listFiles(process.argv[2] ?? "src"))
    console.log(`${file.padEnd(34)}  ${describe(file)}`.trimEnd());
}

/** Sources, a folder's own files before its sub-folders. @returns {string[]} */
export function listFiles(folder = "src") {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true });
  entries.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()) || (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(name);
    return /\.(tsx?|as)$/.test(entry.name) ? [name] : [];
  });
}

/** The first sentence of the opening comment; "" for a file without one. @returns {string} */
export function describe(file) {
  const text = fs.readFileSync(path.join(root, file), "utf8").replace(/^#!.*\n/, "");
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(text)?.[1] ?? /^\s*((?:\/\/.*\n)+)/.exec(text)?.[1] ?? "";
  const words = block
    .replace(/^\s*(\*|\/\/)/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
  return words.replace(/(?<!\b(?:e\.g|i\.e|etc))[.!?](?= [A-Z`"'(]|$).*/, "");
}
