/** Renaming a memory: its name, its file and its index line in one change. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  checkGiven,
  cleanName,
  fileNameFor,
  findText,
  oneLine,
  parseMemory,
  readBytes,
  refuseBroken,
  type Store,
  scan,
  secretError,
} from "../store/store.ts";
import { editFields, parseDocument } from "../text/frontmatter.ts";
import { findSecrets } from "../text/secrets.ts";
import { type SaveResult, writeMemory } from "./save.ts";

/** A new name, and the file name that goes with it. Links in other memories are pointed out, not touched. */
export async function renameMemory(directory: Store, file: string, newName: string): Promise<SaveResult> {
  const name = cleanName(checkGiven(newName, "new name"));
  const secrets = findSecrets(name);
  if (secrets.length > 0) throw secretError(secrets.map(({ rule }) => `${rule} in the name`));
  return directory.change((directory) => {
    const data = readBytes(directory, file);
    const memory = parseMemory(file, data);
    refuseBroken(memory);
    const text = data.toString("utf8");
    const document = parseDocument(text);
    const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/") + 1) : "";
    const target = folder + fileNameFor(memory.type, name);
    const path = join(directory.path, target);
    if (target !== file && lstatSync(path, { throwIfNoEntry: false })) {
      throw new MemdirError("conflict", `${target} exists already: forget it first, or choose another name`);
    }
    if (target === file && oneLine(memory.name) === oneLine(name))
      return { file, path, action: "unchanged", notices: [], undo: null };
    const renamed = document.hasFrontmatter
      ? editFields(text, { name, modified: directory.now().toISOString() })
      : text;
    const gone = target === file ? [] : [file];
    const entry = { action: "rename", reason: "", renames: new Map(gone.map((old) => [old, target])) } as const;
    const written = writeMemory(directory, target, renamed, entry, gone);
    const notices = [...written.notices, ...linkNotices(directory, memory.name, file)];
    return { ...written, action: "updated", notices };
  });
}

function linkNotices(directory: Store, oldName: string, oldFile: string): string[] {
  const marks = [`[[${oldName}]]`, `[[${oldFile.replace(/\.md$/, "")}]]`, `](${oldFile})`];
  const linking = scan(directory)
    .memories.map(({ header }) => header.file)
    .filter((file) => {
      const text = findText(directory, file) ?? "";
      return marks.some((mark) => text.includes(mark));
    });
  return linking.length === 0
    ? []
    : [`${linking.join(", ")} still link${linking.length === 1 ? "s" : ""} to the old name`];
}
