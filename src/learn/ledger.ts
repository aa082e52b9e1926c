/** The ledger: what every background call cost and produced, and why others did not run; one JSON line each. */

import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PRIVATE_MODE } from "../disk/atomic.ts";
import { openRegular } from "../disk/regular.ts";
import { diskError, MemdirError } from "../errors.ts";
import { NO_USAGE, type Usage } from "../model/ask.ts";
import { type Prices, type Sum, sumUp } from "./prices.ts";

export const SPENT_KINDS = ["extraction", "notes", "dream", "enrich", "recall"] as const;
export type SpentKind = (typeof SPENT_KINDS)[number];

/** One background call. Its texts are the program's own words, never those of a conversation. */
export interface Spent {
  /** ISO time. */
  at: string;
  kind: SpentKind;
  session: string | null;
  /** As MEMDIR_MODEL names it, with the provider; "" if none was asked. */
  model: string;
  usage: Usage;
  /** "2 saved, 1 updated". */
  produced: string;
  /** Why nothing ran, else null. */
  skipped: string | null;
}

/** None of it throws. */
export interface Ledger {
  /** On disk when this returns; what the disk does not take waits in memory, is counted, and goes with the next entry. */
  spend(entry: Spent): void;
  /** Not flushed: at the end of most turns nothing runs, and nobody should wait for the disk to learn that. */
  skip(kind: SpentKind, session: string | null, reason: string): void;
  /** In the order they were written, newest last; of a very large ledger only its end. */
  entries(filter?: { since?: Date; session?: string }): Spent[];
  /** The user's local day. */
  today(): Sum;
  /** Why spending cannot be counted, and how to fix it; else null. */
  problem(): string | null;
}

export interface LedgerPlace {
  /** `<memory dir>/.memdir/ledger.jsonl`; it and its folder need not exist. */
  file: string;
  /** The user's own. */
  prices?: Prices;
}

export interface LedgerWorld {
  now: () => Date;
  log: (message: string) => void;
}

/** A link in the ledger's place would lead the writing elsewhere; a fifo would hold it up for ever. */
const APPEND = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A thousand entries or so: a day is nearly always in one read. */
const CHUNK_BYTES = 256 * 1024;
/** Some hundred thousand entries: years of use, read in a fraction of a second. */
const MAX_TAIL_BYTES = 32 << 20;
/** Far more than an entry takes; what is longer is damage. */
const MAX_LINE_CHUNKS = 4;
/** A reason is a sentence. */
const MAX_TEXT_CHARS = 500;
/** A disk that takes nothing must not fill the memory. */
const MAX_WAITING = 200;
const NEWLINE = 10;

export function openLedger(place: LedgerPlace, world: LedgerWorld): Ledger {
  const { file, prices = {} } = place;
  let waiting: Spent[] = [];
  let lastLogged: string | null = null;

  const tell = (error: unknown, doing: string): string => {
    const { message } = diskError(error, doing, file);
    if (message !== lastLogged) world.log(message);
    lastLogged = message;
    return message;
  };
  const write = (entry: Spent, flush: boolean) => {
    // An entry of no day would never be counted.
    const at = Number.isNaN(Date.parse(entry.at)) ? world.now().toISOString() : entry.at;
    waiting.push(tidy({ ...entry, at }));
    try {
      append(file, waiting.map((each) => `${JSON.stringify(each)}\n`).join(""), flush);
      waiting = [];
      lastLogged = null;
    } catch (error) {
      tell(error, "write the ledger");
      // Skips go first: what was spent must stay counted.
      if (waiting.length > MAX_WAITING) waiting = waiting.filter(isCall).slice(-MAX_WAITING);
    }
  };
  const entries: Ledger["entries"] = (filter = {}) => {
    const since = filter.since?.getTime() ?? Number.NEGATIVE_INFINITY;
    let written: Spent[] = [];
    try {
      written = readTail(file, since, filter.session);
    } catch (error) {
      tell(error, "read the ledger");
    }
    return [...written, ...waiting].filter(
      (entry) => Date.parse(entry.at) >= since && (filter.session === undefined || entry.session === filter.session),
    );
  };

  return {
    spend: (entry) => write(entry, true),
    skip(kind, session, reason) {
      const at = world.now().toISOString();
      write({ at, kind, session, model: "", usage: NO_USAGE, produced: "", skipped: reason }, false);
    },
    entries,
    today() {
      const now = world.now();
      // An entry from a clock that ran ahead belongs to the day it names.
      const end = startOfDay(now, 1).getTime();
      const calls = entries({ since: startOfDay(now) }).filter((entry) => isCall(entry) && Date.parse(entry.at) < end);
      return sumUp(calls, prices);
    },
    problem() {
      try {
        checkWritable(file);
        return null;
      } catch (error) {
        return tell(error, "write the ledger");
      }
    },
  };
}

/** Midnight where the user is, so many days later. */
export function startOfDay(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

function isCall(entry: Spent): boolean {
  return entry.skipped === null;
}

/** One write at the end of the file, which other processes append to as well: systems keep such writes apart. */
function append(file: string, lines: string, flush: boolean): void {
  makeFolder(dirname(file));
  refuseLink(file);
  const fd = openSync(file, APPEND | constants.O_CREAT, PRIVATE_MODE);
  try {
    const { size } = checkRegular(file, fd);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    // A writer that was killed left half a line: ours must not be glued to it.
    const data = Buffer.from(size > 0 && last[0] !== NEWLINE ? `\n${lines}` : lines);
    // What was written of it stays, since others may have appended meanwhile; a torn line is passed over.
    if (writeSync(fd, data) < data.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
    if (flush) flushFile(fd);
  } finally {
    closeSync(fd);
  }
}

/** The state folder, hidden from git as it is when a memory makes it. */
function makeFolder(folder: string): void {
  refuseLink(folder);
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: PRIVATE_MODE });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Throws if an entry could not be written. Makes nothing: asking alone should leave no trace. */
function checkWritable(file: string): void {
  const folder = dirname(file);
  refuseLink(folder);
  if (!lstatSync(folder, { throwIfNoEntry: false })) return;
  accessSync(folder, constants.W_OK);
  refuseLink(file);
  if (!lstatSync(file, { throwIfNoEntry: false })) return;
  const fd = openSync(file, APPEND);
  try {
    checkRegular(file, fd);
  } finally {
    closeSync(fd);
  }
}

/** Also where the system cannot be asked to open no links. */
function refuseLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new MemdirError("outside", `${path} is a symbolic link: nothing was written to the ledger; remove the link`);
}

function checkRegular(file: string, fd: number): { size: number } {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw new MemdirError("disk", `${file} is no ordinary file: move it away`);
  return stat;
}

/** It is written in any case; some network file systems cannot do more, and written again it would count twice. */
function flushFile(fd: number): void {
  try {
    fsyncSync(fd);
  } catch {
    // See above.
  }
}

/** Reads backwards until a whole chunk is older than `since`: lines of several processes are not quite in order. */
function readTail(file: string, since: number, session: string | undefined): Spent[] {
  const isLink = lstatSync(dirname(file), { throwIfNoEntry: false })?.isSymbolicLink();
  const opened = isLink ? null : openRegular(file);
  if (!opened) return [];
  const mark = session === undefined ? "" : JSON.stringify(session);
  const chunks: Spent[][] = [];
  try {
    for (const lines of chunksBackwards(opened.fd, opened.size)) {
      // Most lines are of other sessions: they need not be parsed.
      const parsed = lines.filter((line) => line.includes(mark)).flatMap((line) => parseSpent(line) ?? []);
      chunks.push(parsed);
      if (parsed.length > 0 && parsed.every((entry) => Date.parse(entry.at) < since)) break;
    }
  } finally {
    closeSync(opened.fd);
  }
  return chunks.reverse().flat();
}

/** Whole lines from the end of a file, chunk by chunk, those of each chunk in their order. */
function* chunksBackwards(fd: number, size: number): Generator<string[]> {
  /** Ends of a line whose start is further ahead in the file. */
  let ends: Buffer[] = [];
  for (let start = size; start > 0 && size - start < MAX_TAIL_BYTES; ) {
    const length = Math.min(start, CHUNK_BYTES);
    start -= length;
    const whole = Buffer.allocUnsafe(length);
    const chunk = whole.subarray(0, readSync(fd, whole, 0, length, start));
    const cut = start === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (start > 0 && cut === 0) {
      ends = ends.length < MAX_LINE_CHUNKS ? [chunk, ...ends] : [];
      continue;
    }
    yield Buffer.concat([chunk.subarray(cut), ...ends])
      .toString("utf8")
      .split("\n");
    ends = [chunk.subarray(0, cut)];
  }
}

/** Null for what is no entry: torn by a power cut, of a later version, or edited by hand. */
function parseSpent(line: string): Spent | null {
  if (!line.includes("{")) return null;
  try {
    const value = JSON.parse(line.replace(/^\uFEFF/, "")) as Partial<Spent> | null;
    if (!value || !SPENT_KINDS.includes(value.kind as SpentKind) || Number.isNaN(Date.parse(String(value.at)))) {
      return null;
    }
    return tidy(value as Spent);
  } catch {
    return null;
  }
}

/** An entry as it should be, whatever it is made of: sums are made of it. */
function tidy({ at, kind, session, model, usage, produced, skipped }: Spent): Spent {
  return {
    at: String(at),
    kind,
    session: typeof session === "string" ? session : null,
    model: text(model),
    usage: {
      input: amount(usage?.input),
      output: amount(usage?.output),
      cacheRead: amount(usage?.cacheRead),
      cacheWrite: amount(usage?.cacheWrite),
    },
    produced: text(produced),
    skipped: typeof skipped === "string" ? text(skipped) : null,
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_CHARS).toWellFormed() : "";
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
