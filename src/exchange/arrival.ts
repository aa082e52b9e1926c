/** A memory on its way in: what it will be called, which type it gets, and the text that will be written. */

import { describeStatement, nameStatement, typeOfStatement } from "../memory/statement.ts";
import {
  cleanName,
  formatSource,
  leastTrust,
  type Memory,
  type MemoryType,
  mayBecome,
  oneLine,
  parseMemory,
  type Trust,
  trustOf,
} from "../store/store.ts";
import { editFields, formatDocument } from "../text/frontmatter.ts";
import { sha256 } from "../text/hash.ts";
import { describeBody, type Imported } from "./imported.ts";

export type Arrival = ReturnType<typeof prepare>;

/** Our own limit for names; a longer title is cut to its words. */
const MAX_NAME = 200;
/** An id of a source is a path or a number; a longer one is known by its hash. */
const MAX_ORIGIN = 200;

/** `asked` is what the user says it is; without it the source's type counts where it may, else the words decide. */
export function prepare(imported: Imported, asked: MemoryType | undefined, now: Date) {
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
export function importedFrom({ metadata }: Pick<Memory, "metadata">): string | null {
  const inner = metadata.metadata;
  const nested = typeof inner === "object" && !Array.isArray(inner) ? inner.importedFrom : undefined;
  const value = metadata.importedFrom ?? nested;
  return typeof value === "string" && value !== "" ? value : null;
}

/** What is written: the source's own file with its origin added, else our strict form. */
export function formatArrival(arrival: Arrival): string {
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
