/** Importing what a reader found: each memory checked, what is known left out, the rest written as one change. */

import { lstatSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describeStatement, nameStatement, typeOfStatement } from "../memory/statement.ts";
import {
  cleanName,
  fileKey,
  fileNameFor,
  findObjections,
  formatSource,
  leastTrust,
  MAX_MEMORY_BYTES,
  type Memory,
  type MemoryType,
  mayBecome,
  noteLeft,
  oneLine,
  parseMemory,
  readBytes,
  type Store,
  scan,
  type Trust,
  trustOf,
  valuesOf,
} from "../store/store.ts";
import { findEntryProblem } from "../team/protocol.ts";
import { editFields, formatDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { openLikeness, plain, type Said } from "../text/likeness.ts";
import { count } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import { termsOf } from "../text/terms.ts";
import { describeBody, type Imported, MAX_MEMORIES } from "./imported.ts";

interface ImportOptions {
  /** What the user says all of it is. */
  type?: MemoryType | undefined;
  dryRun?: boolean;
  /** For the journal: where it was read. */
  path?: string;
  onProgress?: (done: number, total: number) => void;
}

/** Never changes an existing memory. Running it again changes nothing. `undo`: one entry for all of it; null when nothing was written. */
export async function importMemories(directory: Store, found: readonly Imported[], options: ImportOptions = {}) {
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
  const skipped: ({ name: string; origin: string } & Refusal)[] = [];
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

type Refusal = { kind: "known" | "duplicate" | "secret" | "unfit"; reason: string };

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
  const parts = file.split("/");
  if (findEntryProblem(file) !== null || parts.slice(0, -1).some((part) => part.endsWith(".md"))) return false;
  return parts.every((part) => /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,99}$/u.test(part));
}

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

// --- A memory on its way in: what it will be called, which type it gets, and the text that will be written.

type Arrival = ReturnType<typeof prepare>;

/** Our own limit for names; a longer title is cut to its words. */
const MAX_NAME = 200;
/** An id of a source is a path or a number; a longer one is known by its hash. */
const MAX_ORIGIN = 200;

/** `asked` is what the user says it is; without it the source's type counts where it may, else the words decide. */
function prepare(imported: Imported, asked: MemoryType | undefined, now: Date) {
  const own = imported.text === undefined ? null : parseMemory(imported.file ?? "x.md", imported.text);
  const said = oneLine(well(imported.description));
  // As it is in the file, not as it was made for showing.
  const whole = well(own?.body ?? imported.body)
    .replaceAll("\r\n", "\n")
    .trim();
  const description = own ? said : describeStatement(said) || describeBody(whole);
  // A description that is too long for a line of the index is kept.
  const body = own || said.length <= description.length || whole.includes(said) ? whole : `${said}\n\n${whole}`.trim();
  // A file of ours keeps the name that it has, however odd.
  const name = own && imported.name === own.name ? own.name : nameOf(imported.name, body || description);
  const trust = own ? leastTrust([imported.trust, trustOf(own.source)]) : imported.trust;
  const type = imported.type ?? (own?.typeExplicit ? own.type : null);
  return {
    name,
    description,
    type: asked ?? typeFor(type, `${description}\n${body}`, trust),
    /** What the source says it is, if that is to count. */
    said: asked ? null : type,
    body,
    when: (imported.when ?? []).map((cue) => oneLine(well(cue))).filter((cue) => cue !== ""),
    links: (imported.links ?? []).map((link) => oneLine(well(link))),
    pinned: imported.pinned,
    expires: imported.expires,
    /** Names of the source's fields that are not kept. */
    left: imported.text === undefined ? (imported.left ?? []).map(well) : [],
    at: imported.at && imported.at <= now.toISOString() ? imported.at : null,
    /** `from#id`, as the memory keeps it. */
    origin: (own && importedFrom(own)) || formatOrigin(imported),
    /** The program it comes from, to tell two of one name apart. */
    from: imported.origin.from,
    trust,
    /** The file's own text, if it is one of ours. */
    text: imported.text ?? null,
    /** The file name it had. */
    file: imported.file ?? null,
    /** When it came in, for what has no time of its own. */
    now: now.toISOString(),
    /** Why it cannot be imported. */
    problem: findProblem(own, body, description),
  };
}

/** Where a memory says that it was imported from; Claude Code moves the field under `metadata`. */
function importedFrom({ metadata }: Pick<Memory, "metadata">): string | null {
  const [value] = valuesOf(metadata, "importedFrom");
  return typeof value === "string" && value !== "" ? value : null;
}

/** What is written: the source's own file with its origin added, else our strict form. */
function formatArrival(arrival: Arrival): string {
  const { name, description, type, body, when, links, pinned, expires, at, now, origin, trust, text } = arrival;
  const time = at ?? now;
  if (text === null) {
    const source = formatSource({ by: trust, session: null, message: null });
    const own = { name, description, type, created: time, modified: time, when, links, pinned, expires };
    return formatDocument({ ...own, source, importedFrom: origin }, body);
  }
  const own = parseMemory("x.md", text);
  const source = trustOf(own.source) === trust ? null : formatSource({ by: trust, session: null, message: null });
  return editFields(well(text), {
    ...(own.name === name ? {} : { name }),
    ...(own.description === "" && description !== "" ? { description } : {}),
    ...(own.typeExplicit && own.type === type ? {} : { type }),
    ...(source === null ? {} : { source }),
    ...(importedFrom(own) === null ? { importedFrom: origin } : {}),
  });
}

function formatOrigin({ origin }: Imported): string {
  const id = oneLine(well(origin.id).replace(/\p{Cc}+/gu, " "));
  return `${origin.from}#${id.length <= MAX_ORIGIN ? id : sha256(id).slice(0, 16)}`;
}

function nameOf(given: string, fallback: string): string {
  const clean = well(given)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
  const fits = clean !== "" && clean.normalize("NFC").length <= MAX_NAME;
  return cleanName(fits ? clean : nameStatement(clean || fallback));
}

/** What a document says can be noted as a fact; how to work, and who the user is, only they can say. */
function typeFor(said: MemoryType | null, text: string, trust: Trust): MemoryType {
  const type = said ?? typeOfStatement(text);
  return mayBecome(type, trust) ? type : "project";
}

function findProblem(own: Memory | null, body: string, description: string): string | null {
  if (own?.broken) return `its frontmatter cannot be read (${own.problems[0]}): fix it at its source`;
  return body === "" && description === "" ? "it is empty" : null;
}

/** Half a character cannot be written to a file. */
function well(text: string): string {
  return text.toWellFormed();
}
