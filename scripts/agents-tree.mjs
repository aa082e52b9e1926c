#!/usr/bin/env node
// Rewrites the tree in AGENTS.md: one line per file of src/, described by the first sentence of its opening comment.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const FENCE = /(<!-- tree: .*? -->\n```text\n)([\s\S]*?)(```)/;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = path.join(root, "AGENTS.md");
  const text = fs.readFileSync(file, "utf8");
  const bare = files().filter((name) => describe(name) === "");
  if (bare.length > 0) process.stderr.write(`no opening comment: ${bare.join(", ")}\n`);
  fs.writeFileSync(
    file,
    text.replace(FENCE, (_, open, __, close) => `${open}${build()}${close}`),
  );
  process.exitCode = bare.length > 0 ? 1 : 0;
}

/** The lines in AGENTS.md now. @returns {string} */
export function read() {
  return FENCE.exec(fs.readFileSync(path.join(root, "AGENTS.md"), "utf8"))?.[2] ?? "";
}

/** The lines as they should be. @returns {string} */
export function build() {
  return files()
    .map((name) => `${`${name.padEnd(34)}  ${describe(name)}`.trimEnd()}\n`)
    .join("");
}

/** Files of src/: its own first, then room by room. @returns {string[]} */
export function files(folder = "src") {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true });
  entries.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()) || (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return files(name);
    // What is no program says itself what it is.
    return /\.(html|css|json)$/.test(name) ? [] : [name];
  });
}

/** First sentence of the comment a file opens with, without its full stop. @param {string} name */
function describe(name) {
  const text = fs.readFileSync(path.join(root, name), "utf8").replace(/^#!.*\n/, "");
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(text)?.[1] ?? /^\s*((?:\/\/.*\n)+)/.exec(text)?.[1] ?? "";
  const words = block
    .replace(/^\s*(\*|\/\/)/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
  return words.replace(/(?<!\b(?:e\.g|i\.e|etc))[.!?](?= [A-Z`"'(]|$).*/, "");
}
