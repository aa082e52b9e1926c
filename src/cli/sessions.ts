/** `memdir sessions`: lists past sessions, or searches them. */

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
import { answer, type Call, numberOf, type Run, withProgress } from "./command.ts";

/** A screenful: each takes two lines. */
const MAX_HITS = 20;

export const sessions: Run = async (call) => {
  const words = wordsOf(call);
  const limit = numberOf(call, "limit");
  const memdir = await call.open();
  const all = call.flag("all");
  const places = placesOf(memdir, all);
  const what = words === null ? "reading sessions" : "searching sessions";
  const found = await withProgress(
    call,
    what,
    (onProgress): Promise<(SessionRow | SessionHit)[]> =>
      words === null
        ? listSessions(places, { onProgress })
        : searchSessions(places, words, { limit: Number.POSITIVE_INFINITY, onProgress }),
  );
  const shown = found
    .filter((row) => all || isSessionHere(row, memdir.config, memdir.location.project))
    .slice(0, limit ?? (words === null ? undefined : MAX_HITS));
  const value = shown.map(({ id, at, title, messages, ...more }) => ({ id, at, title, messages, ...more }));
  return answer(call, value, () => viewRows(call, shown, memdir, words !== null));
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

export function placesOf({ config, location }: Memdir, all: boolean): SessionPlaces {
  return sessionPlaces(config, location.project, all);
}

function viewRows(call: Call, rows: readonly (SessionRow | SessionHit)[], memdir: Memdir, searched: boolean): string[] {
  const { bold, dim } = call.terminal.color;
  const all = call.flag("all");
  if (rows.length === 0) {
    const hint = dim("Only sessions of this folder were looked at; --all looks at those of every project.");
    return [searched ? "Nothing found." : "No sessions yet.", ...(all ? [] : [hint])];
  }
  const now = memdir.directories[0]?.now() ?? null;
  return rows.flatMap((row) => {
    const when = agoInWords(row.at, now).padEnd(10);
    const messages = String(row.messages).padStart(5);
    const place = all && row.cwd !== null ? ` ${dim(plainLine(row.cwd))}` : "";
    const line = `${bold(row.id.slice(0, 8))}  ${when}  ${messages}  ${plainLine(row.title)}${place}`;
    return "line" in row ? [line, dim(`    ${plainLine(row.line)}`)] : [line];
  });
}

/** An age while it is small enough to mean something, then the date. */
export function agoInWords(at: string, now: Date | null): string {
  const minutes = now ? Math.floor((now.getTime() - Date.parse(at)) / 60_000) : -1;
  if (minutes < 0 || minutes >= 7 * 24 * 60) return at.slice(0, 10);
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / (24 * 60))} d ago`;
}
