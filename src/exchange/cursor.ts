/** Importing Cursor's rules: `.cursor/rules/**.mdc` and the older `.cursorrules` of a project. */

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { describeBody, type Harvest, type Imported, MAX_MEMORIES, textOf, textsOf } from "./harvest.ts";
import { readNote } from "./note.ts";
import { readSource } from "./source-file.ts";

/** Deep enough for any project; a loop of mounts ends here. */
const MAX_DEPTH = 8;

const OLD_FILE = ".cursorrules";

/** `path`: the project, its folder of rules, or one rule. */
export function readCursor(path: string): Harvest {
  const isFile = statOrNull(path)?.isFile() === true;
  const rules = join(path, ".cursor", "rules");
  const folder = isFile ? dirname(path) : statOrNull(rules)?.isDirectory() ? rules : path;
  const files = isFile ? [basename(path)] : [];
  const problems: string[] = [];
  // A project without rules has no .mdc files of its own: other folders are not searched.
  if (!isFile && (folder === rules || /[/\\]rules$/.test(folder))) visit(folder, "", 0, files, problems);
  const found: Imported[] = [];
  const add = (file: string, at: string, follow: boolean) => {
    const read = readSource(at, { follow });
    if ("problem" in read) problems.push(read.problem);
    else found.push(ruleOf(file, read));
  };
  for (const file of files.slice(0, MAX_MEMORIES)) add(file, join(folder, file), isFile);
  if (!isFile && statOrNull(join(path, OLD_FILE))?.isFile()) add(OLD_FILE, join(path, OLD_FILE), false);
  return { found: found.filter(({ body }) => body !== ""), problems };
}

function visit(root: string, folder: string, depth: number, files: string[], problems: string[]): void {
  if (depth > MAX_DEPTH) return;
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(root, file, depth + 1, files, problems);
      else if (entry.isFile() && entry.name.endsWith(".mdc")) files.push(file);
      else if (entry.isSymbolicLink()) problems.push(`${file} is a symbolic link: passed over`);
    }
  } catch (error) {
    problems.push(`${folder || "."} cannot be read (${(error as NodeJS.ErrnoException).code}): passed over`);
  }
}

/** Files of a repository, which anybody may have written: a document until the user says what they are (`--type feedback`). */
function ruleOf(file: string, { text, modified }: { text: string; modified: string }): Imported {
  const stem = file === OLD_FILE ? "cursor rules" : basename(file).replace(/\.mdc$/, "");
  const note = readNote(text, stem);
  const described = textOf(parseDocument(text).fields.find(({ key }) => key === "description")?.value);
  return {
    ...note,
    name: stem.replace(/[-_]+/g, " "),
    description: described || describeBody(note.body),
    when: globsOf(text).map((glob) => `working on ${glob}`),
    at: modified,
    origin: { from: "cursor", id: file },
    trust: "document",
  };
}

/** More than anybody writes into one field. */
const MAX_GLOBS = 2000;

/** A comma between braces belongs to the glob. */
function globsOf(text: string): string[] {
  const value = parseDocument(text).fields.find(({ key }) => key === "globs")?.value;
  const all = typeof value === "string" ? value.slice(0, MAX_GLOBS).split(/,(?![^{}]*\})/) : textsOf(value);
  return all.map((glob) => glob.trim()).filter((glob) => glob !== "");
}
