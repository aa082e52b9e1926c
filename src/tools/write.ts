/** The Write tool, and how Write and Edit change a file: refuse early, ask, check again, keep a copy, replace, remember. */

import { accessSync, chmodSync, constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { replaceSame, writeTemporary } from "../disk/fence.ts";
import { filled, required, text } from "../input.ts";
import type { InTurn, Tool } from "../model/tool.ts";
import type { LineEdit } from "../session/file-state.ts";
import { diffLines as compareLines } from "../text/diff.ts";
import { countOf, type FileContent, isStill, linesOf, openFolderAt, readFileAt, reasonOf } from "./file.ts";
import { MAX_FILE_BYTES, readTarget } from "./read.ts";
import { type Call, defineTool, findTarget, permitEdit, type Target, type Workbench } from "./workbench.ts";

const FIELDS = { file_path: required(filled(text())), content: required(text()) };

export function openWrite(bench: Workbench, inTurn: InTurn): Tool {
  return defineTool("Write", FIELDS, async ({ file_path, content }, call) => {
    const target = findTarget(bench, file_path);
    return changeFile(bench, call, target, () => planWrite(bench, target, content), inTurn);
  });
}

/** Also for an Edit that creates a file. */
export function planWrite(bench: Workbench, target: Target, content: string): Plan {
  const base = readTarget(target, "written");
  refuseUnseen(bench, target, { kind: "write" });
  const bytes = Buffer.from(content);
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`${target.shown} would be larger than 50 MB; write less`);
  const verb = base ? "updated" : "created";
  return { base, bytes, edits: null, result: `${verb} ${target.shown} (${countOf(linesOf(content).length, "line")})` };
}

export interface Plan {
  /** What is there now; null for nothing. */
  base: FileContent | null;
  bytes: Buffer;
  /** Which lines become how many; null when the model gave the whole new text. */
  edits: readonly LineEdit[] | null;
  /** For the model, when it is done. */
  result: string;
}

/**
 * `plan` reads the file and returns what it becomes, or throws. It is called twice, as a person may take long to answer; what
 * the second call saw must still be there when the file is replaced.
 */
export async function changeFile(bench: Workbench, call: Call, target: Target, plan: () => Plan, inTurn: InTurn) {
  const first = plan();
  const detail = diffLines(first.base ? first.base.bytes.toString() : "", first.bytes.toString());
  await permitEdit(bench, call, target, detail);
  return inTurn(async () => {
    if (call.signal.aborted) throw new Error("stopped by the user; nothing was changed");
    const { base, bytes, edits, result } = plan();
    const notices = await put(bench, target, bytes, base);
    // What is on disk may not be what was sent: a store normalises it.
    const now = bench.store?.owns(target.real) ? (readFileAt(target.real, MAX_FILE_BYTES)?.bytes ?? bytes) : bytes;
    if (edits && now.equals(bytes)) bench.files.noteEdit(target.real, { bytes, edits });
    else bench.files.note(target.real, { bytes: now, lines: null });
    bench.onTouch({ path: target.path });
    return [result, ...notices].join("\n");
  });
}

/** Throws when the file may not be changed, saying what the model should do about it. */
export function refuseUnseen(
  bench: Workbench,
  target: Target,
  change: Parameters<Workbench["files"]["check"]>[1],
): void {
  const reason = bench.files.check(target.real, change);
  if (reason) throw new Error(reason);
}

/** A store has its own history, and its files are undone there. */
async function put(bench: Workbench, target: Target, bytes: Buffer, base: FileContent | null): Promise<string[]> {
  const { store, history } = bench;
  if (store?.owns(target.real)) {
    const { notices } = await store.write(target.real, bytes.toString(), base?.bytes.toString() ?? null);
    return notices;
  }
  try {
    history?.before(target.real);
    replaceFile(target.real, bytes, base);
  } catch (error) {
    throw new Error(`${target.shown} was not changed: ${reasonOf(error)}`);
  }
  history?.after(target.real);
  return [];
}

/** `base` is what the file must still hold; null means that nothing may be there. Synchronous, so that nothing of ours comes between. */
function replaceFile(real: string, bytes: Uint8Array, base: FileContent | null): void {
  const folder = openFolderAt(dirname(real), { make: base === null });
  try {
    const target = join(folder.path, basename(real));
    // A rename needs no permission on the file itself, but a read-only file was made so on purpose.
    if (base) accessSync(target, constants.W_OK);
    // Without a base the mode is what the user's umask makes of it.
    const temporary = writeTemporary(folder.path, bytes, base?.mode ?? 0o666, ".memdir-write");
    if (base) chmodSync(temporary, base.mode);
    if (replaceSame(temporary, target, (path) => isStill(path, base?.bytes ?? null))) return;
    throw new Error(
      base
        ? "it changed just now; nothing was written. Read it again"
        : "someone else created it just now. Read it first",
    );
  } finally {
    folder.close();
  }
}

/** Enough to decide; people read no more than that in a question. */
const MAX_LINES = 200;
const CONTEXT = 3;

const SIGNS = { same: " ", removed: "-", added: "+" };

/** What changes between two texts, for a person who is asked about it: the lines that go and come, and a few around them. `…` stands for unchanged lines between two changes. */
export function diffLines(before: string, after: string): string {
  const linesOf = (text: string) => (text === "" ? [] : text.split("\n"));
  const lines = compareLines(linesOf(before), linesOf(after));
  const changed = lines.flatMap(({ kind }, at) => (kind === "same" ? [] : [at]));
  const near = new Set(changed.flatMap((at) => Array.from({ length: 2 * CONTEXT + 1 }, (_, i) => at - CONTEXT + i)));
  const rows: string[] = [];
  for (const [at, { kind, text }] of lines.entries()) {
    if (near.has(at)) rows.push(`${SIGNS[kind]}${text.replace(/\r$/, "")}`);
    else if (rows.length > 0 && near.has(at - 1) && at < (changed.at(-1) ?? 0)) rows.push("…");
  }
  if (rows.length <= MAX_LINES) return rows.join("\n");
  return `${rows.slice(0, MAX_LINES).join("\n")}\n… and ${rows.length - MAX_LINES} more lines`;
}
