/** Past conversations: found by what was said in them, and read again. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { Message } from "../model/ask.ts";
import { isSessionHere, sessionPlaces } from "../project/sessions-folder.ts";
import { findSession, type SessionRow as Listed } from "../session/sessions.ts";
import { readTranscript } from "../session/transcripts.ts";
import { sessions } from "../verbs/sessions.ts";
import { clip, contextOf, type Page } from "./answer.ts";
import type { SessionList, SessionRow, SessionView } from "./api.ts";

/** More than people scroll through. */
const MAX_LISTED = 500;
const MAX_HITS = 50;
const MAX_MESSAGES = 400;
const MAX_BYTES = 400 * 1024;
/** People rarely search for tool output. */
const MAX_TOOL_CHARS = 2_000;

/** Newest first; with words the best first. */
export async function answerSessions(page: Page, words: string, signal: AbortSignal): Promise<SessionList> {
  const search = words.trim() === "" ? { limit: MAX_LISTED } : { action: "search", words, limit: MAX_HITS };
  const rows = await sessions.run(page.memdir, search, contextOf(page, signal));
  return { sessions: rows.map((row) => rowOf(row, row.line)) };
}

export async function answerSession({ config, location }: Memdir, id: string): Promise<SessionView> {
  const found = await findSession(sessionPlaces(config, location.project), id);
  const shown = JSON.stringify(id.slice(0, 40));
  if (found && "ambiguous" in found)
    throw new MemdirError("ambiguous", `several session ids begin with ${shown}; give a longer prefix`);
  if (!found || !isSessionHere(found, config, location.project))
    throw new MemdirError("not-found", `there is no session ${shown} in this project`);
  const { messages, prompts } = await readTranscript(found.path);
  const times = new Map(prompts.map(({ index, at }) => [index, at === "" ? null : at]));
  const said = messages.flatMap((message, at) => saidIn(message, times.get(at) ?? null));
  const kept = cut(said);
  const isCut = kept.length < said.length || kept.some(({ text }, at) => text !== said[at]?.text);
  return { row: rowOf(found), messages: kept, isCut };
}

function rowOf({ id, at, title, messages }: Listed, excerpt: string | null = null): SessionRow {
  return { id, at, title, messages, excerpt };
}

type Said = SessionView["messages"][0];

/** A message may contain text, tool calls and results: each becomes a separate one. Thinking is omitted. */
function saidIn({ role, content }: Message, at: string | null): Said[] {
  return content.flatMap((block): Said[] => {
    if (block.type === "opaque") return [];
    if (block.type === "tool_result") return [{ role: "tool", at, text: clipTool(block.content) }];
    if (block.type === "tool_use")
      return [{ role: "tool", at, text: clipTool(`${block.name} ${JSON.stringify(block.input)}`) }];
    if (block.text.trim() === "") return [];
    return [{ role: block.attachment === undefined ? role : "note", at, text: block.text.toWellFormed() }];
  });
}

function clipTool(text: string): string {
  const shown = text.slice(0, MAX_TOOL_CHARS).toWellFormed();
  return text.length > MAX_TOOL_CHARS ? `${shown}\n… ${text.length - MAX_TOOL_CHARS} more characters` : shown;
}

/** From the beginning, as it was said. */
function cut(said: readonly Said[]): Said[] {
  const kept: Said[] = [];
  let left = MAX_BYTES;
  for (const one of said.slice(0, MAX_MESSAGES)) {
    left -= Buffer.byteLength(one.text);
    if (left < 0 && kept.length > 0) break;
    kept.push(left < 0 ? { ...one, text: clip(one.text, MAX_BYTES / 4) } : one);
    if (left < 0) break;
  }
  return kept;
}
