/** `memdir sessions`. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { isSessionHere, sessionPlaces } from "../project/sessions-folder.ts";
import {
  listSessions,
  type SessionHit,
  type SessionPlaces,
  type SessionRow,
  searchSessions,
} from "../session/sessions.ts";
import { plainLine } from "../text/sanitise.ts";
import type { Call, Run } from "./command.ts";

/** A screenful: each takes two lines. */
const MAX_HITS = 20;

export const run: Run = async (call) => {
  const words = wordsOf(call);
  const limit = limitOf(call);
  const memdir = await call.open();
  const all = call.flag("all");
  const places = placesOf(memdir, all);
  const found: (SessionRow | SessionHit)[] = await withProgress(call, words, (onProgress) =>
    words === null
      ? listSessions(places, { onProgress })
      : searchSessions(places, words, { limit: Number.POSITIVE_INFINITY, onProgress }),
  );
  const shown = found
    .filter((row) => all || isSessionHere(row, memdir.config, memdir.location.project))
    .slice(0, limit ?? (words === null ? undefined : MAX_HITS));
  if (call.json) {
    call.terminal.json(shown.map(({ id, at, title, messages, ...more }) => ({ id, at, title, messages, ...more })));
    return 0;
  }
  printRows(call, shown, memdir, words !== null);
  return 0;
};

function wordsOf(call: Call): string | null {
  const [verb, ...words] = call.args;
  if (verb === undefined) return null;
  if (verb !== "search") {
    throw new MemdirError(
      "usage",
      `"${plainLine(verb)}" is nothing that sessions can do; use: memdir sessions search WORDS`,
    );
  }
  const text = words.join(" ").trim();
  if (text === "") throw new MemdirError("usage", "search for what? Give some words: memdir sessions search WORDS");
  return text;
}

function limitOf(call: Call): number | undefined {
  const text = call.value("limit");
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new MemdirError("usage", `--limit takes a whole number, not "${plainLine(text)}"`);
  return Number(text);
}

export function placesOf({ config, location }: Memdir, all: boolean): SessionPlaces {
  return sessionPlaces(config, location.project, all);
}

async function withProgress<T>(
  call: Call,
  words: string | null,
  work: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const progress = call.terminal.progress(words === null ? "reading sessions" : "searching sessions");
  try {
    return await work((done, total) => progress.show(done, total));
  } finally {
    progress.end();
  }
}

function printRows(call: Call, rows: readonly (SessionRow | SessionHit)[], memdir: Memdir, searched: boolean): void {
  const { print, color } = call.terminal;
  const all = call.flag("all");
  if (rows.length === 0) {
    print(searched ? "Nothing found." : "No sessions yet.");
    if (!all) print(color.dim("Only sessions of this folder were looked at; --all looks at those of every project."));
  }
  const now = memdir.directories[0]?.now() ?? null;
  for (const row of rows) {
    const when = whenOf(row.at, now).padEnd(10);
    const count = String(row.messages).padStart(5);
    const place = all && row.cwd !== null ? ` ${color.dim(plainLine(row.cwd))}` : "";
    print(`${color.bold(row.id.slice(0, 8))}  ${when}  ${count}  ${plainLine(row.title)}${place}`);
    if ("line" in row) print(color.dim(`    ${plainLine(row.line)}`));
  }
}

/** An age while it is small enough to mean something, then the date. */
function whenOf(at: string, now: Date | null): string {
  const minutes = now ? Math.floor((now.getTime() - Date.parse(at)) / 60_000) : -1;
  if (minutes < 0 || minutes >= 7 * 24 * 60) return at.slice(0, 10);
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} d ago`;
}
