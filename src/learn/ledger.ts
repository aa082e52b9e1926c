/** The ledger: what every background call cost and produced, and why others did not run; one JSON line each. */

import { closeSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { openRegular } from "../disk/regular.ts";
import { diskError } from "../errors.ts";
import { NO_USAGE, type Usage } from "../model/ask.ts";
import { appendLines, checkWritable, chunksBackwards } from "./ledger-file.ts";
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

/** A reason is a sentence. */
const MAX_TEXT_CHARS = 500;
/** A disk that takes nothing must not fill the memory. */
const MAX_WAITING = 200;

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
      appendLines(file, waiting.map((each) => `${JSON.stringify(each)}\n`).join(""), flush);
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
