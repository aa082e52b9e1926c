/** Taking over the memories of another directory: copied as one journal entry, nothing overwritten, nothing removed there. */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { addLine, findBytes, INDEX_FILE, parseIndexLine, readBytes, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";

/** The result of an adoption. */
export interface AdoptResult {
  /** The directory they were copied from. */
  from: string;
  /** Files that are new here, by their new name. */
  adopted: string[];
  /** Files that already existed here with the same content. */
  present: string[];
  /** The change to give to `undo`; null when nothing changed. */
  undo: string | null;
  /** What was not adopted, and why. */
  notices: string[];
}

export async function adoptMemories(directory: Store, path: string, recursive: boolean): Promise<AdoptResult> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new MemdirError("usage", `${path} is not a directory: \`memdir doctor\` lists what can be adopted`);
  const from: Store = { ...directory, path, recursive, readOnly: true };
  return directory.change(async (directory) => {
    const writes = new Map<string, Buffer>();
    const present: string[] = [];
    const names = new Map<string, string>();
    for (const file of walk(from.path, from.recursive).files) {
      const data = readBytes(from, file);
      const name = freeName(directory, file, data, writes);
      if (name === null) present.push(file);
      else {
        writes.set(name, data);
        names.set(file, name);
      }
    }
    const theirs = findBytes(from, INDEX_FILE)?.toString("utf8") ?? "";
    const applied =
      writes.size === 0
        ? null
        : await directory.apply({
            action: "adopt",
            trust: null,
            reason: `from ${from.path}`,
            writes,
            plan: (pages) => ({ pages: { ...pages, index: withTheirLines(pages.index ?? "", theirs, names) } }),
          });
    return {
      from: from.path,
      adopted: [...writes.keys()],
      present,
      undo: applied?.entry.id ?? null,
      notices: applied?.notices ?? [],
    };
  });
}

/** The same name if it is free, a numbered one if another memory has it, null if the same content is there. */
function freeName(directory: Store, file: string, data: Buffer, taken: ReadonlyMap<string, Buffer>): string | null {
  for (let number = 1; ; number++) {
    const name = number === 1 ? file : file.replace(/\.md$/, `_${number}.md`);
    const there = taken.get(name) ?? findBytes(directory, name);
    if (!there) {
      if (!existsSync(join(directory.path, name))) return name;
    } else if (sha256(there) === sha256(data)) return null;
  }
}

/** Their words for a memory that kept its file name, and text of their own, go to the end; the other memories get a line of ours. */
function withTheirLines(index: string, theirs: string, names: ReadonlyMap<string, string>): string {
  const lines = splitLines(theirs).filter((line) => {
    const file = parseIndexLine(line)?.file;
    return file === undefined ? line.trim() !== "" : names.get(file) === file;
  });
  return lines.reduce(addLine, index);
}
