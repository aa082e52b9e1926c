/** Changing a file, the same way for Write and Edit: refuse early, ask, look again, keep what was, replace, remember. */

import type { LineEdit } from "../session/file-lines.ts";
import { type FileContent, readFileAt, reasonOf } from "./file.ts";
import { decodeText } from "./file-text.ts";
import { diffLines } from "./line-diff.ts";
import { type Place, permitEdit } from "./place.ts";
import { MAX_FILE_BYTES } from "./read.ts";
import { replaceFile } from "./replacement.ts";
import type { Workbench } from "./workbench.ts";

export interface Plan {
  /** What is there now; null: nothing. */
  base: FileContent | null;
  bytes: Buffer;
  /** Which lines become how many; null when the model gave all of the new text. */
  edits: readonly LineEdit[] | null;
  /** For the model, when it is done. */
  result: string;
}

/** Runs one work after the other: two changes of one turn must not both start from the same text. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function openTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}

/**
 * `plan` looks at the file and says what it becomes, or throws. It is asked twice, as a person may take long to answer; what
 * the second one saw must still be there when the new content is put in its place.
 */
export async function changeFile(
  bench: Workbench,
  tool: string,
  place: Place,
  plan: () => Plan,
  { inTurn, signal }: { inTurn: InTurn; signal: AbortSignal },
): Promise<string> {
  const first = plan();
  const detail = diffLines(first.base ? first.base.bytes.toString() : "", first.bytes.toString());
  await permitEdit(bench, tool, place, detail, signal);
  return inTurn(async () => {
    if (signal.aborted) throw new Error("stopped by the user; nothing was changed");
    const { base, bytes, edits, result } = plan();
    const notices = await put(bench, place, bytes, base);
    // What lies there may not be what was sent: a store brings it into its own form.
    const now = bench.store?.owns(place.real) ? (readFileAt(place.real, MAX_FILE_BYTES)?.bytes ?? bytes) : bytes;
    if (edits && now.equals(bytes)) bench.files.noteEdit(place.real, { bytes, edits });
    else bench.files.note(place.real, { bytes: now, lines: null });
    bench.onTouch({ path: place.path });
    return [result, ...notices].join("\n");
  });
}

/** Throws when the file may not be changed, with what the model should do about it. */
export function refuseUnseen(bench: Workbench, place: Place, change: Parameters<Workbench["files"]["check"]>[1]): void {
  const reason = bench.files.check(place.real, change);
  if (reason) throw new Error(reason);
}

/** A store has a history of its own, and its files are undone there. */
async function put(bench: Workbench, place: Place, bytes: Buffer, base: FileContent | null): Promise<string[]> {
  const { store, history } = bench;
  if (store?.owns(place.real)) {
    const { notices } = await store.write(place.real, bytes.toString(), base && textOf(base));
    return notices;
  }
  try {
    history?.before(place.real);
    replaceFile(place.real, bytes, base);
  } catch (error) {
    throw new Error(`${place.shown} was not changed: ${reasonOf(error)}`);
  }
  history?.after(place.real);
  return [];
}

function textOf({ bytes }: FileContent): string {
  const { text, bom } = decodeText(bytes);
  return bom ? `\ufeff${text}` : text;
}
