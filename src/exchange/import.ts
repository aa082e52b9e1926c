/** Taking in what an importer brought: each piece checked, what is known left out, the rest written as one change. */

import { lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import {
  applyChange,
  type Directory,
  fileNameFor,
  INDEX_FILE,
  isDailyLog,
  type MemoryType,
  OVERFLOW_FILE,
  withDirectory,
} from "../store/store.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";
import { type Arrival, formatArrival, prepare } from "./arrival.ts";
import { type Imported, MAX_MEMORIES } from "./harvest.ts";
import { openStock } from "./stock.ts";

interface ImportOptions {
  /** The user's word on what all of it is. */
  type?: MemoryType | undefined;
  dryRun?: boolean;
  /** For the journal: where it was read. */
  path?: string;
  onProgress?: (done: number, total: number) => void;
}

export interface ImportResult {
  imported: { file: string; name: string; type: MemoryType; origin: string }[];
  skipped: { name: string; origin: string; kind: "known" | "duplicate" | "secret" | "unfit"; reason: string }[];
  /** One entry for all of it; null when nothing was written. */
  undo: string | null;
  notices: string[];
}

/** A larger text is no memory; as learning has it (learn/apply.ts). */
const MAX_MEMORY_BYTES = 256 * 1024;

/** Never changes a memory that is there. Running it again changes nothing. */
export async function importMemories(
  directory: Directory,
  found: readonly Imported[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const arrivals = found.slice(0, MAX_MEMORIES).map((each) => prepare(each, options.type, directory.now()));
  const notices =
    found.length > arrivals.length
      ? [`${found.length - arrivals.length} memories are left out: an import takes ${MAX_MEMORIES}`]
      : [];
  const checked = checkAll(arrivals, options.onProgress);
  const preview = choose(directory, checked);
  if (options.dryRun || preview.accepted.size === 0) return { ...tell(preview), undo: null, notices };
  return withDirectory(directory, (directory) => {
    // Others may have written meanwhile, another import of the same among them.
    const chosen = choose(directory, checked);
    if (chosen.accepted.size === 0) return { ...tell(chosen), undo: null, notices };
    const where = options.path === undefined ? "" : ` (${options.path})`;
    const applied = applyChange(directory, {
      action: "import",
      reason: `from ${arrivals[0]?.from}${where}`,
      writes: new Map([...chosen.accepted].map(([file, arrival]) => [file, Buffer.from(formatArrival(arrival))])),
    });
    for (const [file, arrival] of chosen.accepted) keepAge(directory, file, arrival);
    return { ...tell(chosen), undo: applied.entry.id, notices: [...notices, ...applied.notices] };
  });
}

interface Checked {
  arrival: Arrival;
  /** Why it cannot be taken, whatever is here. */
  fault: Refusal | null;
  /** As they may be shown: a name may be where the secret is. */
  shown: { name: string; origin: string };
}

/** What takes its time, before anybody is kept waiting. */
function checkAll(
  arrivals: readonly Arrival[],
  onProgress: (done: number, total: number) => void = () => {},
): Checked[] {
  const checked: Checked[] = [];
  for (const arrival of arrivals) {
    onProgress(checked.length, arrivals.length);
    const shown = { name: redactSecrets(arrival.name), origin: redactSecrets(arrival.origin) };
    checked.push({ arrival, fault: findFault(arrival), shown });
  }
  onProgress(arrivals.length, arrivals.length);
  return checked;
}

interface Choice {
  /** What comes in, by the file it gets. */
  accepted: ReadonlyMap<string, Arrival>;
  skipped: ImportResult["skipped"];
}

function choose(directory: Directory, checked: readonly Checked[]): Choice {
  // What is unfit may be of any size: it is not even compared.
  const fit = checked.filter(({ fault }) => fault?.kind !== "unfit");
  const stock = openStock(
    directory,
    fit.map(({ arrival }) => arrival),
  );
  const nameFile = openFileNames(directory);
  const accepted = new Map<string, Arrival>();
  const skipped: ImportResult["skipped"] = [];
  for (const { arrival, fault, shown } of checked) {
    const refusal = fault?.kind === "unfit" ? fault : (stock.find(arrival) ?? fault);
    if (refusal) skipped.push({ ...shown, ...refusal });
    else {
      const named = stock.rename(arrival);
      stock.add(named);
      accepted.set(nameFile(named), named);
    }
  }
  return { accepted, skipped };
}

function tell({ accepted, skipped }: Choice): Pick<ImportResult, "imported" | "skipped"> {
  return { imported: [...accepted].map(([file, { name, type, origin }]) => ({ file, name, type, origin })), skipped };
}

type Refusal = Pick<ImportResult["skipped"][number], "kind" | "reason">;

function findFault(arrival: Arrival): Refusal | null {
  if (arrival.fault !== null) return { kind: "unfit", reason: arrival.fault };
  const text = formatArrival(arrival);
  if (Buffer.byteLength(text) > MAX_MEMORY_BYTES)
    return { kind: "unfit", reason: `more than ${MAX_MEMORY_BYTES / 1024} KB: split it first` };
  const findings = findSecrets(text);
  if (findings.length === 0) return null;
  const rules = [...new Set(findings.map(({ rule }) => rule))].join(", ");
  return { kind: "secret", reason: `it holds what looks like a secret (${rules}): take it out at its source` };
}

/** A memory does not become young by being copied. */
function keepAge(directory: Directory, file: string, { at }: Arrival): void {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (!(time < directory.now().getTime())) return;
  try {
    utimesSync(join(directory.path, file), time / 1000, time / 1000);
  } catch (error) {
    directory.log(`${file} keeps the time of its import: ${(error as Error).message}`);
  }
}

/** Every call takes the name that it returns; none is given twice, not even in other letters of the same word. */
function openFileNames(directory: Directory): (arrival: Arrival) => string {
  const taken = new Set<string>();
  const isFree = (file: string) =>
    !taken.has(keyOf(file)) && lstatSync(join(directory.path, file), { throwIfNoEntry: false }) === undefined;
  return ({ file, type, name }) => {
    let chosen = file !== null && isPlain(file) && isFree(file) ? file : "";
    for (let number = 1; chosen === ""; number++) {
      const candidate = fileNameFor(type, name, number);
      if (isFree(candidate)) chosen = candidate;
    }
    taken.add(keyOf(chosen));
    return chosen;
  };
}

/** Disks that know no case and no other spelling would put one over the other. */
function keyOf(file: string): string {
  return file.normalize("NFC").toLowerCase();
}

/** Names that every system takes, in folders of ours that are listed. */
function isPlain(file: string): boolean {
  if (findNameProblem(file) !== null || !file.endsWith(".md") || isDailyLog(file)) return false;
  const parts = file.split("/");
  if (parts.length > 4 || parts.slice(0, -1).some((part) => part.endsWith(".md"))) return false;
  if ([INDEX_FILE, OVERFLOW_FILE].some((own) => keyOf(parts.at(-1) as string) === keyOf(own))) return false;
  return parts.every((part) => /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,99}$/u.test(part) && !RESERVED.test(part));
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
