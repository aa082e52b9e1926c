/** Names of memories and the file names made from them. */

import { MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import type { MemoryType } from "./type.ts";

/** A name is a title, not a text. */
const MAX_NAME_LENGTH = 200;

/** Short enough for any file system and for a line of the index. */
const MAX_SLUG_LENGTH = 40;

/** A name on one line, normalised, without control characters. */
export function cleanName(name: string): string {
  const clean = name
    .normalize("NFC")
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  if (clean === "") throw new MemdirError("usage", 'the name is empty: give one with --name, such as "prefers tabs"');
  if (clean.length > MAX_NAME_LENGTH) {
    throw new MemdirError(
      "usage",
      `the name has ${clean.length} characters, the limit is ${MAX_NAME_LENGTH}: put the details into the body`,
    );
  }
  return clean;
}

/** The same text on one line; for descriptions and cues. */
export function oneLine(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Lower-case letters and digits of any script joined by `_`; a name without any (only emoji) gets a hash. */
export function slugify(name: string): string {
  const words = name
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "_");
  const slug = [...words.replace(/^_+|_+$/g, "")].slice(0, MAX_SLUG_LENGTH).join("").replace(/_+$/, "");
  return slug === "" ? `memory_${sha256(name).slice(0, 8)}` : slug;
}

/** `{type}_{slug}.md`, with a number from the second one on. The type in front keeps clear of reserved names like `con.md`. */
export function fileNameFor(type: MemoryType, name: string, number = 1): string {
  return `${type}_${slugify(name)}${number > 1 ? `_${number}` : ""}.md`;
}

/** File names under which other writers may keep a memory of this name: kebab case, without the type. */
export function otherFileNames(type: MemoryType, name: string): string[] {
  const slug = slugify(name);
  const kebab = slug.replaceAll("_", "-");
  return [...new Set([`${type}-${kebab}.md`, `${type}_${kebab}.md`, `${slug}.md`, `${kebab}.md`])];
}

/** Without case: on some disks their files would be the same. */
export function sameName(a: string, b: string): boolean {
  return oneLine(a).toLowerCase() === oneLine(b).toLowerCase();
}
