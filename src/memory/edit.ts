/** Replacing a memory's whole text, as an editor does: checked on close, refused if the file changed meanwhile. */

import { MemdirError } from "../errors.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { editFields } from "../text/frontmatter-edit.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";
import { withDirectory } from "./change.ts";
import type { Directory } from "./directory.ts";
import { parseMemory } from "./memory.ts";
import { findBytes } from "./read.ts";
import { type SaveResult, secretError, writeMemory } from "./save.ts";

/** `base` is the text that was edited: if the file is no longer that, somebody else wrote it and nothing is overwritten. */
export async function editMemory(
  directory: Directory,
  file: string,
  base: string,
  text: string,
  options: { redact?: boolean } = {},
): Promise<SaveResult> {
  const checked = await checkEdit(file, base, text, options.redact === true);
  return withDirectory(directory, (directory) => {
    const current = findBytes(directory, file);
    if (!current || sha256(current) !== sha256(base)) {
      throw new MemdirError(
        "conflict",
        `${file} changed while it was edited: nothing was overwritten; look at it again and repeat the edit`,
      );
    }
    const stamped = stamp(directory, base, checked.text);
    const result = writeMemory(directory, file, stamped, { action: "edit", reason: "" });
    return { ...result, notices: [...checked.notices, ...result.notices] };
  });
}

async function checkEdit(
  file: string,
  base: string,
  text: string,
  redact: boolean,
): Promise<{ text: string; notices: string[] }> {
  const document = parseDocument(text);
  const broken = document.problems[0];
  if (broken && parseDocument(base).problems.length === 0)
    throw new MemdirError("broken", `${file} was not saved, its frontmatter cannot be read: ${broken}`);
  const findings = await findSecrets(text);
  const notices = parseMemory(file, text).problems;
  if (findings.length === 0) return { text, notices };
  const found = findings.map(({ rule, line }) => `${rule} in line ${line}`);
  if (!redact) throw secretError(found);
  return { text: redactSecrets(text, findings), notices: [...notices, ...found.map((what) => `masked: ${what}`)] };
}

/** `modified` moves with the text, unless the person set it; a file without frontmatter gets none. */
function stamp(directory: Directory, base: string, text: string): string {
  const modified = (document: string) => parseMemory("x.md", document).modified;
  if (text === base || modified(text) !== modified(base)) return text;
  return editFields(text, { modified: directory.now().toISOString() });
}
