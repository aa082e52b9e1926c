/** `sessions`: past sessions are listed, or searched. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { isSessionHere, sessionPlaces } from "../project/scopes.ts";
import {
  findSession,
  listSessions,
  type SessionHit,
  type SessionPlaces,
  type SessionRow,
  searchSessions,
} from "../session/sessions.ts";
import { bold, dim, flag, type Line, number, text, verb } from "../verb.ts";

/** A screenful: each takes two lines. */
const MAX_HITS = 20;

export const sessions = verb({
  args: ["action?", "words…?"],
  usage: "[search WORDS…]",
  input: {
    action: text("search; without it, lists all sessions", "search"),
    words: text("what to look for", "WORDS"),
    all: flag("include sessions of all projects"),
    limit: number("at most this many", { min: 1 }),
  },
  about: "Lists this project's sessions in memdir and Claude Code, newest first.",
  examples: ['sessions search "connection pool"'],
  async run(memdir, { action, words = "", all = false, limit }, { progress }) {
    if (action !== undefined && (action !== "search" || words.trim() === ""))
      throw new MemdirError("usage", "usage: memdir sessions, or memdir sessions search WORDS");
    const places = placesOf(memdir, all);
    const list = () => listSessions(places, { onProgress: progress("reading sessions") });
    const search = () =>
      searchSessions(places, words.trim(), { limit: Infinity, onProgress: progress("searching sessions") });
    const found: (SessionRow & Partial<SessionHit>)[] = action === undefined ? await list() : await search();
    return found
      .filter((row) => all || isSessionHere(row, memdir.config, memdir.location.project))
      .slice(0, limit ?? (action === undefined ? undefined : MAX_HITS))
      .map(({ id, at, title, messages, ...more }) => ({ id, at, title, messages, ...more }));
  },
  say(rows, { input: { action, all }, now }) {
    if (rows.length === 0) {
      const hint = dim("Only sessions of this folder are shown; --all shows those of every project.");
      return [action === undefined ? "No sessions yet." : "Nothing found.", ...(all ? [] : [hint])];
    }
    return rows.flatMap((row): Line[] => {
      const when = agoInWords(row.at, now).padEnd(10);
      const place = all && row.cwd !== null ? dim(` ${row.cwd}`) : "";
      const line = [bold(row.id.slice(0, 8)), `  ${when}  ${String(row.messages).padStart(5)}  ${row.title}`, place];
      return row.line === undefined ? [line] : [line, ["    ", dim(row.line)]];
    });
  },
});

export function placesOf({ config, location }: Memdir, all: boolean): SessionPlaces {
  return sessionPlaces(config, location.project, all);
}

/** The one session that an id, or the beginning of one, means. `list`: the call that lists them. */
export async function findOne(memdir: Memdir, id: string, list = "memdir sessions"): Promise<SessionRow> {
  const found = await findSession(placesOf(memdir, false), id);
  if (!found) {
    const what = id === "latest" ? "there is no session to continue here" : `there is no session ${JSON.stringify(id)}`;
    throw new MemdirError("not-found", `${what}; ${list} lists them`);
  }
  if ("ambiguous" in found)
    throw new MemdirError("ambiguous", `several sessions begin with ${JSON.stringify(id)}; ${list} lists them`);
  return found;
}

/** An age while it is small enough to mean something, then the date. */
export function agoInWords(at: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(at)) / 60_000);
  if (minutes < 0 || minutes >= 7 * 24 * 60) return at.slice(0, 10);
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / (24 * 60))} d ago`;
}
