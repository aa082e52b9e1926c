/** What every change on the model's behalf needs: the directory, its limits, and what may not be written. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { applyChange, type Change, type Directory, findEnforced, isMemoryFile } from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";

export interface Desk {
  memdir: Memdir;
  directory: Directory;
  maxFileBytes: number;
}

export function change(directory: Directory, what: Omit<Change, "reason">): void {
  if (what.writes.size > 0) applyChange(directory, { ...what, reason: "" });
}

/** Folders that the model asks for are as private as the memory directory itself. */
export function makeFolder(directory: Directory, folder: string): void {
  mkdirSync(join(directory.path, folder), { recursive: true, mode: directory.inRepository ? 0o755 : 0o700 });
}

/** Values that stood there `before` do not count: a file that holds a secret can still be mended. */
export function refuseSecrets(text: string, before: string, where: string): void {
  const findings = findSecrets(text).filter(({ start, end }) => !before.includes(text.slice(start, end)));
  if (findings.length === 0) return;
  const found = findings.slice(0, 5).map(({ rule, line }) => `${rule} in line ${line}`);
  throw new MemdirError(
    "secret",
    `Nothing was written: ${where} holds what looks like a secret (${found.join(", ")}). Leave its value out and note where it is kept instead`,
    { details: found },
  );
}

/** A file and what it holds; null for none. */
type Held = { file: string; data: string | Buffer } | null;

/** What is enforced is the user's word: a model neither makes such a rule, nor changes it, nor takes it away. */
export function refuseRule(before: Held, after: Held, shown: string): void {
  if (ruleOf(before) === ruleOf(after)) return;
  throw new MemdirError(
    "usage",
    `Nothing was changed: ${shown} holds a rule that is enforced (\`enforce\`), which only the user makes, changes or removes`,
  );
}

function ruleOf(held: Held): string | null {
  const rule = held && isMemoryFile(held.file) ? findEnforced(held.file, held.data) : null;
  return rule && JSON.stringify({ ...rule, file: "" });
}
