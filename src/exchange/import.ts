/** Importing what a reader found: each memory checked, what is known left out, the rest written as one change. */

import { lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import {
  fileKey,
  fileNameFor,
  findObjections,
  INDEX_FILE,
  isDailyLog,
  MAX_MEMORY_BYTES,
  type MemoryType,
  noteLeft,
  OVERFLOW_FILE,
  oneLine,
  parseMemory,
  readBytes,
  type Store,
  scan,
} from "../store/store.ts";
import { openLikeness, plain, type Said } from "../text/likeness.ts";
import { count } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import { termsOf } from "../text/terms.ts";
import { type Arrival, formatArrival, importedFrom, prepare } from "./arrival.ts";
import { type Imported, MAX_MEMORIES } from "./imported.ts";

interface ImportOptions {
  /** What the user says all of it is. */
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

/** Never changes an existing memory. Running it again changes nothing. */
export async function importMemories(
  directory: Store,
  found: readonly Imported[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const arrivals = found.slice(0, MAX_MEMORIES).map((each) => prepare(each, options.type, directory.now()));
  const left = found.length - arrivals.length;
  const notices = left > 0 ? [`${left} memories are left out: an import takes ${MAX_MEMORIES}`] : [];
  const checked = arrivals.map((arrival, at) => {
    options.onProgress?.(at, arrivals.length);
    return check(arrival);
  });
  options.onProgress?.(arrivals.length, arrivals.length);
  const preview = choose(directory, checked);
  if (options.dryRun || preview.accepted.size === 0) return { ...report(preview, notices), undo: null };
  return directory.change(async (directory) => {
    // Others may have written meanwhile, another import of the same among them.
    const chosen = choose(directory, checked);
    if (chosen.accepted.size === 0) return { ...report(chosen, notices), undo: null };
    const where = options.path === undefined ? "" : ` (${options.path})`;
    const applied = await directory.apply({
      action: "import",
      reason: `from ${arrivals[0]?.from}${where}`,
      writes: new Map([...chosen.accepted].map(([file, arrival]) => [file, Buffer.from(formatArrival(arrival))])),
    });
    for (const [file, arrival] of chosen.accepted) keepAge(directory, file, arrival);
    return { ...report(chosen, [...notices, ...applied.notices]), undo: applied.entry.id };
  });
}

/** A type that its source names and its words may not have is not taken over in silence. */
function noteTypes(accepted: ReadonlyMap<string, Arrival>): string[] {
  const ignored = [...accepted.values()].filter(({ type, said }) => said !== null && said !== type).length;
  if (ignored === 0) return [];
  const whose = count(ignored, "memory names a type", "memories name types");
  return [`${whose} that only the user's own words may have: imported as project; --type says what they are`];
}

/** What takes time, before the directory is locked. `shown`: as they may be shown: a name may be where the secret is. */
function check(arrival: Arrival) {
  const shown = { name: redactSecrets(arrival.name), origin: redactSecrets(arrival.origin) };
  return { arrival, objection: objectTo(arrival), shown };
}

/** What comes in, by the file it gets, and what does not. */
function choose(directory: Store, checked: readonly ReturnType<typeof check>[]) {
  // What is unfit may be of any size: it is not even compared.
  const fit = checked.filter(({ objection }) => objection?.kind !== "unfit");
  const stock = openStock(
    directory,
    fit.map(({ arrival }) => arrival),
  );
  const nameFile = openFileNames(directory);
  const accepted = new Map<string, Arrival>();
  const skipped: ImportResult["skipped"] = [];
  for (const { arrival, objection, shown } of checked) {
    const refusal = objection?.kind === "unfit" ? objection : (stock.find(arrival) ?? objection);
    if (refusal) skipped.push({ ...shown, ...refusal });
    else {
      const named = stock.rename(arrival);
      stock.add(named);
      accepted.set(nameFile(named), named);
    }
  }
  return { accepted, skipped };
}

function report({ accepted, skipped }: ReturnType<typeof choose>, notices: readonly string[]) {
  const imported = [...accepted].map(([file, { name, type, origin }]) => ({ file, name, type, origin }));
  const left = [...accepted.values()].flatMap((arrival) => arrival.left);
  return { imported, skipped, notices: [...notices, ...noteTypes(accepted), ...noteLeft(left)] };
}

type Refusal = Pick<ImportResult["skipped"][number], "kind" | "reason">;

function objectTo(arrival: Arrival): Refusal | null {
  if (arrival.problem !== null) return { kind: "unfit", reason: arrival.problem };
  // What its words may become was settled by their trust, and by what the user says they are.
  const draft = { file: `"${arrival.name}"`, text: formatArrival(arrival), before: null };
  const [first] = findObjections(draft, { trust: "user" });
  if (!first) return null;
  if (first.rule !== "secret") return { kind: "unfit", reason: first.message };
  const found = [...new Set((first.details as string[]).map((each) => each.replace(/ in line \d+$/, "")))].join(", ");
  return { kind: "secret", reason: `it holds what looks like a secret (${found}): remove it at its source` };
}

/** A memory does not become young by being copied. */
function keepAge(directory: Store, file: string, { at }: Arrival): void {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (!(time < directory.now().getTime())) return;
  try {
    utimesSync(join(directory.path, file), time / 1000, time / 1000);
  } catch (error) {
    directory.log(`${file} keeps the time of its import: ${(error as Error).message}`);
  }
}

/** Every call takes the name that it returns; none is given twice, not even in other letters of the same word. */
function openFileNames(directory: Store): (arrival: Arrival) => string {
  const taken = new Set<string>();
  const isFree = (file: string) =>
    !taken.has(fileKey(file)) && lstatSync(join(directory.path, file), { throwIfNoEntry: false }) === undefined;
  return ({ file, type, name }) => {
    let chosen = file !== null && isPlain(file) && isFree(file) ? file : "";
    for (let number = 1; chosen === ""; number++) {
      const candidate = fileNameFor(type, name, number);
      if (isFree(candidate)) chosen = candidate;
    }
    taken.add(fileKey(chosen));
    return chosen;
  };
}

/** Names that every system takes, in folders of ours that are listed. */
function isPlain(file: string): boolean {
  if (findNameProblem(file) !== null || !file.endsWith(".md") || isDailyLog(file)) return false;
  const parts = file.split("/");
  if (parts.length > 4 || parts.slice(0, -1).some((part) => part.endsWith(".md"))) return false;
  if ([INDEX_FILE, OVERFLOW_FILE].some((own) => fileKey(parts.at(-1) as string) === fileKey(own))) return false;
  return parts.every((part) => /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,99}$/u.test(part) && !RESERVED.test(part));
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

interface Kept extends Said {
  label: string;
  origin: string | null;
}

/** What a directory holds already: what is known, what says the same, and which names are taken. */
function openStock(directory: Store, arrivals: readonly Arrival[]) {
  const kept = readKept(directory);
  const likeness = openLikeness<string>([...kept, ...arrivals], termsOf);
  const names = new Set(kept.map(nameKey));
  const origins = new Map(kept.flatMap((each) => (each.origin === null ? [] : [[each.origin, each] as const])));
  for (const each of kept) likeness.add(each, each.label);
  return {
    /** Why it need not come in, or null. */
    find(arrival: Arrival): Refusal | null {
      const known = origins.get(arrival.origin);
      if (known) {
        const isSame = plain(known.body) === plain(arrival.body);
        const change = isSame ? "" : ", which differs from its source now and is kept";
        return { kind: "known", reason: `imported before as ${known.label}${change}` };
      }
      const same = likeness.find(arrival);
      return same === null ? null : { kind: "duplicate", reason: `${same} says the same` };
    },
    /** The same under a name that is free: a memory is known by its type and name together. */
    rename(arrival: Arrival): Arrival {
      const base = arrival.name.slice(0, MAX_BASE).toWellFormed();
      let name = arrival.name;
      for (let number = 1; names.has(nameKey({ ...arrival, name })); number++)
        name = `${base} (${arrival.from}${number > 1 ? ` ${number}` : ""})`;
      return name === arrival.name ? arrival : { ...arrival, name };
    },
    add(arrival: Arrival): void {
      names.add(nameKey(arrival));
      // Files of one store are not compared among themselves: they were kept side by side.
      if (arrival.text !== null) return;
      likeness.add(arrival, `"${arrival.name}"`);
      origins.set(arrival.origin, { ...arrival, label: `"${arrival.name}"` });
    },
  };
}

/** Leaves room for the source's name and a number within the limit of a name. */
const MAX_BASE = 170;

/** The same for two that the store takes for one name. */
function nameKey({ type, name }: Pick<Said, "type" | "name">): string {
  return `${type}\n${oneLine(name).toLowerCase()}`;
}

function readKept(directory: Store): Kept[] {
  return scan(directory).flatMap((header): Kept[] => {
    const bytes = lstatSync(join(directory.path, header.file), { throwIfNoEntry: false })?.size ?? 0;
    if (header.unreadable || bytes > MAX_MEMORY_BYTES)
      return [{ ...header, body: "", label: header.file, origin: null }];
    try {
      const memory = parseMemory(header.file, readBytes(directory, header.file));
      const { type, name, description, body } = memory;
      return [{ type, name, description, body, label: header.file, origin: importedFrom(memory) }];
    } catch {
      return []; // gone since it was listed
    }
  });
}
