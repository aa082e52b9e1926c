/** Saving a memory: checks first, then one journalled change. The same name of the same type again is an update. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import {
  type Change,
  checkGiven,
  cleanName,
  fileNameFor,
  findBytes,
  formatIndexLine,
  formatSource,
  type Header,
  indexPath,
  isMemoryType,
  isShared,
  MEMORY_TYPES,
  type MemoryType,
  oneLine,
  otherFileNames,
  parseIndexLine,
  parseMemory,
  peekIndex,
  readGiven,
  refuseBroken,
  restoreIndex,
  type Source,
  type Store,
  sameName,
  scan,
  secretError,
  type Trust,
  trustOf,
  type Writer,
} from "../store/store.ts";
import {
  editBody,
  editFields,
  formatDocument,
  type Metadata,
  type MetadataValue,
  parseDocument,
} from "../text/frontmatter.ts";
import { splitLines } from "../text/lines.ts";
import { isDay } from "../text/local-day.ts";
import { findRelativeDates } from "../text/relative-dates.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";

/** What to save. Saving the same type and name again updates the memory. */
export interface SaveRequest {
  /** user: about the person. feedback: how they want the work done. project: what the code does not show. reference: where something is kept. */
  type: MemoryType;
  /** A short title. Together with the type, it identifies the memory. */
  name: string;
  /** One line for the index: what it is about and when it matters. */
  description?: string | undefined;
  /** The memory itself, in Markdown. */
  body: string;
  /** Cues: situations in which the memory should come to mind. */
  when?: readonly string[] | undefined;
  /** Names or files of related memories. */
  links?: readonly string[] | undefined;
  /** Names or files of memories that this one replaces and outranks. */
  supersedes?: readonly string[] | undefined;
  /** Keeps its line in the index when others are moved out, and keeps it from being pruned. */
  pinned?: boolean | undefined;
  /** The last day on which it applies (`2026-12-31`), or a moment. After that, recall does not show it, and `health` and `dream` propose to retire it. */
  expires?: string | undefined;
  /** Who said it, and where. Default: the user. */
  source?: Source | undefined;
  /** How far the writer is trusted. Default: as far as the source. Set it if a person has checked and approved the memory. */
  trust?: Trust | undefined;
  /** For writers other than the user: false refuses to change what the user said or wrote; true means that the user wants the change. A memory that is saved again unchanged stays the user's. */
  replace?: boolean | undefined;
  /** Masks secrets instead of refusing the text. */
  redact?: boolean | undefined;
  /** A note for the journal: why it is saved. */
  reason?: string | undefined;
}

/** The result of a save, an edit or a rename. */
export interface SaveResult {
  /** Path below the directory. */
  file: string;
  /** Absolute path. */
  path: string;
  /** `unchanged` when the file already said exactly this. */
  action: "created" | "updated" | "unchanged";
  /** Suggestions for improving it, and anything else that was changed. */
  notices: string[];
  /** The journal entry to give to undo; null when nothing changed. */
  undo: string | null;
}

export async function saveMemory(directory: Store, request: SaveRequest): Promise<SaveResult> {
  checkRequest(request);
  const asked = checkSecrets({
    ...request,
    name: cleanName(request.name),
    description: oneLine(request.description ?? ""),
    body: request.body.replaceAll("\r\n", "\n").trim(),
    when: (request.when ?? []).map(oneLine).filter((cue) => cue !== ""),
  });
  if (asked.clean.body === "" && asked.clean.description === "") {
    throw new MemdirError(
      "usage",
      "there is nothing to save: give a body on standard input or with --file, or a --description",
    );
  }
  const notices = [...asked.notices, ...(await dateNotices(directory, asked.clean))];
  return directory.change(async (directory) => {
    const place = findPlace(directory, asked.clean);
    const request = place.old === null ? asked.clean : keepUserWord(directory, place.file, place.old, asked.clean);
    const text =
      place.old === null ? newText(directory, request) : updatedText(directory, place.file, place.old, request);
    // Who asks: what stays the user's word has no source.
    const { reason = "", source = null, trust = trustOf(source) } = asked.clean;
    const result = await writeMemory(directory, place.file, text, { action: "save", reason, trust, isPlaced: true });
    const unknown = await referenceNotices(directory, request);
    return { ...result, notices: [...notices, ...place.notices, ...result.notices, ...unknown] };
  });
}

/** Programs without types call this, too. */
function checkRequest(request: SaveRequest | undefined): asserts request is SaveRequest {
  const { type, name, description = "", body, when = [], links = [], supersedes = [], reason = "" } = request ?? {};
  if (!isMemoryType(type)) {
    throw new MemdirError(
      "usage",
      `"${checkGiven(type, "type")}" is not a type: use one of ${MEMORY_TYPES.join(", ")}`,
    );
  }
  const texts = { name, description, body, reason };
  for (const [field, value] of Object.entries(texts)) checkGiven(value, field);
  for (const [field, values] of Object.entries({ when, links, supersedes })) {
    if (!Array.isArray(values)) throw new MemdirError("usage", `${field} must be a list of strings`);
    for (const value of values) checkGiven(value, field);
  }
  const { expires, pinned, redact, replace } = request ?? {};
  if (expires !== undefined && !(typeof expires === "string" && isDay(expires)))
    throw new MemdirError("usage", 'expires is not a date: write it as "2026-12-31"');
  for (const [field, value] of Object.entries({ pinned, redact, replace }))
    if (value !== undefined && typeof value !== "boolean")
      throw new MemdirError("usage", `${field} is neither true nor false`);
  // Before it is searched for secrets and dates, which takes time.
  readGiven(Buffer.from(texts.body as string), `"${oneLine(texts.name as string)}"`);
}

/** References that the request makes to no memory: they may be saved later. */
async function referenceNotices(directory: Store, { links = [], supersedes = [] }: SaveRequest): Promise<string[]> {
  if (links.length + supersedes.length === 0) return [];
  const { openDeadReferences } = await import("./references.ts");
  const dead = openDeadReferences(scan(directory), new Set())({ links: [...links], supersedes: [...supersedes] });
  return dead.map(
    (name) => `no memory here is called "${oneLine(name)}": the reference to it counts once there is one`,
  );
}

/** Writes one memory's text and its index line. Also the end of every edit. */
export async function writeMemory(
  directory: Writer,
  file: string,
  text: string,
  entry: Omit<Change, "writes" | "saved">,
  /** Files that go in the same change. */
  gone: readonly string[] = [],
  /** Other memories that change with it. */
  others: ReadonlyMap<string, string> = new Map(),
): Promise<SaveResult> {
  checkGiven(text, "text");
  const path = join(directory.path, file);
  const before = findBytes(directory, file)?.toString("utf8") ?? null;
  if (before === text && gone.length === 0) {
    restoreIndex(directory);
    return { file, path, action: "unchanged", notices: [], undo: null };
  }
  const writes = new Map<string, Buffer | null>([
    [file, Buffer.from(text)],
    ...gone.map((each) => [each, null] as const),
    ...[...others].map(([each, changed]) => [each, Buffer.from(changed)] as const),
  ]);
  const applied = await directory.apply({ ...entry, writes, saved: file });
  const notices = [...applied.notices, ...lineNotices(directory, parseMemory(file, text))];
  return { file, path, action: before === null ? "created" : "updated", notices, undo: applied.entry.id };
}

/** Over this length a line of the index costs more than it tells. */
export const LONG_LINE = 200;

function lineNotices(directory: Store, header: Header): string[] {
  const length = formatIndexLine(header).length;
  if (length <= LONG_LINE) return [];
  directory.log(`${header.file}: index line of ${length} characters`);
  return [`the index line has ${length} characters: a description under 150 leaves room for other memories`];
}

/** How many numbered file names are looked at: more names that differ only in signs are not to be expected. */
const NUMBERS = 10;

/**
 * The file that holds this name and type already, wherever another writer put it, or the first free file name. `old` is the memory that is
 * there, null for a free name.
 */
function findPlace(directory: Store, { type, name, replace }: SaveRequest) {
  const notices = sameNameElsewhere(directory, type, name);
  const numbered = Array.from({ length: NUMBERS }, (_, i) => fileNameFor(type, name, i + 1));
  const unlisted = replace === undefined ? [] : filesByName(directory, name);
  const candidates = new Set([
    ...numbered,
    ...otherFileNames(type, name),
    ...filesByTitle(directory, name),
    ...unlisted,
  ]);
  const found = [...candidates].flatMap((file) => readIfSame(directory, file, type, name) ?? []);
  // Stores of earlier versions may have two that differ in case only.
  const same = found.find((each) => oneLine(each.name) === name) ?? found[0];
  if (same) return { file: same.file, old: same.data, notices };
  for (let number = 1; ; number++) {
    const file = fileNameFor(type, name, number);
    if (!lstatSync(join(directory.path, file), { throwIfNoEntry: false })) return { file, old: null, notices };
  }
}

/** Files that the index lists under this name. */
function filesByTitle(directory: Store, name: string): string[] {
  const lines = splitLines(peekIndex(indexPath(directory)));
  const title = parseIndexLine(formatIndexLine({ file: "x.md", name, description: "" }))?.title ?? name;
  return lines.flatMap((line) => {
    const parsed = parseIndexLine(line);
    return parsed && sameName(parsed.title, title) ? [parsed.file] : [];
  });
}

/** Wherever they are: what the user wrote must not be missed because the index does not list it. */
function filesByName(directory: Store, name: string): string[] {
  return scan(directory).flatMap((header) => (sameName(header.name, name) ? [header.file] : []));
}

function readIfSame(directory: Store, file: string, type: MemoryType, name: string) {
  if (!lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile()) return null;
  const data = findBytes(directory, file);
  if (!data) return null;
  const memory = parseMemory(file, data);
  const isSame = sameName(memory.name, name) && (!memory.typeExplicit || memory.type === type);
  return isSame ? { file, name: memory.name, data } : null;
}

export function sameNameElsewhere(directory: Store, type: MemoryType, name: string): string[] {
  return MEMORY_TYPES.filter((other) => other !== type).flatMap((other) => {
    const file = fileNameFor(other, name);
    return readIfSame(directory, file, other, name) === null
      ? []
      : [`${file} has the same name and the type ${other}: a memory is known by both, so this is another one`];
  });
}

/** The strict form: name, description, type, created, modified, then what is optional. */
function newText(directory: Store, request: SaveRequest): string {
  const now = directory.now().toISOString();
  const metadata: Metadata = {
    name: request.name,
    description: request.description,
    type: request.type,
    created: now,
    modified: now,
    ...optionalFields(request),
  };
  return formatDocument(metadata, request.body);
}

function optionalFields(request: SaveRequest): Metadata {
  return {
    ...(request.when?.length ? { when: request.when } : {}),
    ...(request.links?.length ? { links: request.links } : {}),
    ...(request.supersedes?.length ? { supersedes: request.supersedes } : {}),
    ...(request.pinned === undefined ? {} : { pinned: request.pinned }),
    ...(request.expires === undefined ? {} : { expires: request.expires }),
    ...(request.source ? { source: formatSource(request.source) } : {}),
  };
}

/** Throws `conflict` for a change of what the user said or wrote that they did not ask for. */
function keepUserWord(directory: Store, file: string, old: Buffer, request: SaveRequest): SaveRequest {
  const memory = parseMemory(file, old);
  if (request.replace === undefined || trustOf(memory.source) !== "user") return request;
  const { source: _, ...rest } = request;
  const isSame = (["body", "description"] as const).every(
    (key) => oneLine(memory[key]) === oneLine(request[key] ?? ""),
  );
  if (isSame) return rest;
  if (request.replace) return request;
  throw new MemdirError(
    "conflict",
    `not saved: ${file} is what ${isShared(directory) ? "a person, perhaps another than the user," : "the user"} said or wrote themselves. If the user wants it changed now, save it again with \`replace\` true; else save it under another name`,
  );
}

/** Only what the request names changes; `modified` moves only if something else did. */
function updatedText(directory: Store, file: string, old: Buffer, request: SaveRequest): string {
  refuseBroken(parseMemory(file, old));
  const text = old.toString("utf8");
  const document = parseDocument(text);
  const fields = { ...(request.description ? { description: request.description } : {}), ...optionalFields(request) };
  const edited = editBody(
    document.hasFrontmatter ? editFields(text, fields as Record<string, MetadataValue>) : text,
    request.body || document.body,
  );
  return edited === text || !document.hasFrontmatter
    ? edited
    : editFields(edited, { modified: directory.now().toISOString() });
}

function checkSecrets<T extends SaveRequest>(request: T): { clean: T; notices: string[] } {
  const clean = { ...request };
  const found: string[] = [];
  const scan = (where: string, text: string): string => {
    const findings = findSecrets(text);
    for (const { rule, line } of findings)
      found.push(where === "body" ? `${rule} in line ${line}` : `${rule} in the ${where}`);
    return redactSecrets(text, findings);
  };
  clean.name = scan("name", request.name);
  clean.description = scan("description", request.description ?? "");
  clean.body = scan("body", request.body);
  clean.when = (request.when ?? []).map((cue) => scan("cues", cue));
  clean.links = (request.links ?? []).map((link) => scan("links", link));
  clean.supersedes = (request.supersedes ?? []).map((name) => scan("supersedes", name));
  clean.reason = scan("reason", request.reason ?? "");
  scan("source", request.source ? formatSource(request.source) : "");
  if (found.length === 0) return { clean: request, notices: [] };
  // A source is an identifier: masked it would name nothing, so it is left out.
  if (clean.source && findSecrets(formatSource(clean.source)).length > 0) delete clean.source;
  if (!request.redact) throw secretError(found);
  return { clean, notices: found.map((what) => `masked: ${what}`) };
}

/** A relative date in a project memory means nothing when it is read weeks later. */
async function dateNotices(directory: Store, request: SaveRequest): Promise<string[]> {
  if (request.type !== "project") return [];
  const dates = await findRelativeDates(request.body, directory.now());
  // A description that repeats the text needs no remark of its own.
  const inDescription = (await findRelativeDates(request.description ?? "", directory.now())).filter(
    ({ words }) => !dates.some((each) => each.words === words),
  );
  const remark = (where: string, { words, date }: { words: string; date: string }) =>
    `${where}: "${words}" means ${date}; write the date, it is read later`;
  return [
    ...inDescription.map((found) => remark("description", found)),
    ...dates.map((found) => remark(`line ${found.line}`, found)),
  ];
}
