/**
 * The hot path: a host's prompt comes in, the memories that help go out. `hook.ts` runs it, and catches whatever goes wrong: the
 * host goes on without memories.
 */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, processEnv } from "../config.ts";
import { findDirectories, findPlace } from "../directories.ts";
import { type Candidate, fitMemories, MAX_MEMORIES } from "../recall/budget.ts";
import { openChecked } from "../recall/checked.ts";
import type { Entry } from "../recall/entry.ts";
import { type HotAnswer, type HotDirectory, type HotOptions, type HotRanked, recallHot } from "../recall/hot.ts";
import type { Digest } from "../recall/hot-desk.ts";
import { formatHeader } from "../recall/injection.ts";
import { isTooShort } from "../recall/prefetch.ts";
import { shownContent } from "../recall/shown.ts";
import { logSurfaced } from "../recall/surface-log.ts";
import { readSurfaced, writeSurfaced } from "../recall/surfaced.ts";
import { ageInDays, findAuthor } from "../store/store.ts";
import { type Deadline, openDeadline } from "./deadline.ts";
import { cwdOf, type EventInput } from "./event.ts";
import { isMemorySized } from "./memory-size.ts";
import { formatContext, MAX_CHARS, writeAll } from "./output.ts";

export interface HookInput extends EventInput {
  prompt?: unknown;
}

/** A byte is at most a character. */
const MAX_BYTES = MAX_CHARS;
const WORDS_FILE = join(__dirname, "words.bin");

/** Gemini CLI puts what hooks said when the session began before its user's first words. */
const HOST_CONTEXT = /^(?:\s*<hook_context>[\s\S]*?<\/hook_context>)+/;

/** Whether there was something to say. */
export function main(input: HookInput): boolean {
  const deadline = openDeadline();
  const { text, search } = respond(input, new Date(), deadline);
  const name = typeof input.hook_event_name === "string" ? input.hook_event_name : "UserPromptSubmit";
  if (text !== "") writeAll(1, formatContext(name, text));
  search?.();
  if (deadline.missed > 0) throw new Error(`time was up with ${deadline.missed} changed memories not looked at`);
  return text !== "";
}

/** The text to add to this prompt; "" for none. */
export function answer(input: HookInput, now: Date): string {
  return respond(input, now, openDeadline()).text;
}

interface Response {
  text: string;
  /** Begins a search by a model beside the turn; null where nobody wants one. */
  search: (() => void) | null;
}

const NOTHING: Response = { text: "", search: null };

function respond(input: HookInput, now: Date, deadline: Deadline): Response {
  const prompt = typeof input.prompt === "string" ? input.prompt.replace(HOST_CONTEXT, "") : "";
  if (isTooShort(prompt)) return NOTHING;
  const cwd = cwdOf(input);
  const session = typeof input.session_id === "string" ? input.session_id : null;
  const { config, location } = findPlace({ cwd }, processEnv());
  if (config.disabled !== null) return NOTHING;
  deadline.set(config.hooks.deadlineMs);
  const { directories } = findDirectories({ cwd, now: () => now, withOlder: false }, config, location);
  const open = directories.filter(({ readOnly }) => !readOnly);
  const directory = open[0]?.path;
  if (directory === undefined) return NOTHING;
  const text = recallFor({ prompt, session, config, open, now, deadline }, directory);
  if (session === null || !wantsSearch(config)) return { text, search: null };
  return {
    text,
    search: () => {
      const { startPrefetch } = require("./hook-prefetch.cjs") as typeof import("./prefetch.ts");
      startPrefetch({ directory, cwd, session, prompt, nowMs: now.getTime() });
    },
  };
}

interface Asked {
  prompt: string;
  session: string | null;
  config: Config;
  open: readonly HotDirectory[];
  now: Date;
  deadline: Deadline;
}

/** `main` is the directory that keeps what the session was shown. */
function recallFor({ prompt, session, config, open, now, deadline }: Asked, main: string): string {
  const surfaced = readSurfaced(main, session);
  if (surfaced.isFull()) return "";
  const wordsFile = config.meaning ? WORDS_FILE : null;
  const digest: Digest = (directory, file) => (deadline.isMissed() ? null : digestNow(directory, file));
  const { shown, method } = recallHot(open, prompt, { nowMs: now.getTime(), wordsFile, digest });
  const pathOf = (ranked: HotRanked) => join((open[ranked.owner] as HotDirectory).path, ranked.file);
  const candidates: Candidate[] = [];
  for (const ranked of shown) {
    if (candidates.length === MAX_MEMORIES) break;
    const path = pathOf(ranked);
    if (!surfaced.surfaced.has(path))
      candidates.push(...readShown(open[ranked.owner] as HotDirectory, ranked, path, now));
  }
  const { memories, text } = fitMemories(candidates, { maxBytes: MAX_BYTES, sessionLeft: surfaced.bytesLeft() });
  if (memories.length > 0) {
    surfaced.surface(memories);
    writeSurfaced(main, session, surfaced);
    // A rehearsal has no session, and shows nobody anything.
    if (session !== null) {
      const isShown = new Set(memories.map(({ path }) => path));
      const logged = shown.filter((ranked) => isShown.has(pathOf(ranked)));
      logSurfaced(main, {
        at: now,
        session,
        door: "hook",
        prompt,
        memories: logged.map(({ file, owner, confidence }) => ({
          file,
          scope: (open[owner] as HotDirectory).scope,
          why: [`${method}: confidence ${confidence.toFixed(2)}`],
        })),
      });
    }
  }
  return text;
}

/** The user's wish, and a model to ask: it costs a request for every prompt. */
function wantsSearch({ hooks }: Config): boolean {
  const { MEMDIR_RECALL, MEMDIR_MODEL = "" } = processEnv();
  return (hooks.prefetch || MEMDIR_RECALL === "model") && MEMDIR_MODEL.trim() !== "";
}

/** Goes through everything once, so that all of it is in the compiled form that is kept, whatever this prompt needed. */
export function rehearse(): void {
  const now = new Date(0);
  // Of no session: nothing is noted.
  answer({ prompt: "a prompt of several words, and what_it names in src/it.ts" }, now);
  const header = formatHeader({ path: __filename, scope: "team", ageDays: ageInDays(0, 1e12), source: null });
  const content = shownContent("---\nname: one\nwhen:\n  - two\n---\n\nThree.\n");
  const candidate = { path: __filename, title: "one", header, content };
  fitMemories([candidate, { ...candidate, content: content.repeat(1000) }], { maxBytes: MAX_BYTES, sessionLeft: 1e5 });
  readShown(
    REHEARSED,
    { file: "", name: "", saidMs: 0, isInferred: true, owner: 0, score: 0, confidence: 0 },
    __filename,
    now,
  );
}

const REHEARSED: HotDirectory = { path: "", scope: "user", recursive: false, inRepository: true };

/** The order of all memories for a prompt: what `npm run bench:recall` measures. */
export function rankPrompt(
  directories: readonly HotDirectory[],
  prompt: string,
  options: Partial<HotOptions> & { nowMs: number },
): { order: { file: string; confidence: number }[]; shown: string[]; method: string } {
  const found: HotAnswer = recallHot(directories, prompt, { wordsFile: WORDS_FILE, digest: digestNow, ...options });
  return {
    order: found.order.map(({ file, confidence }) => ({ file, confidence })),
    shown: found.shown.slice(0, 5).map(({ file }) => file),
    method: found.method,
  };
}

/** Files that the cache does not know are rare, and reading them takes much code: it lies in a file of its own. */
function digestNow(directory: HotDirectory, file: string): Entry | null {
  const { digestFile } = require("./hook-stale.cjs") as typeof import("./stale.ts");
  return digestFile(directory.path, file, directory.inRepository);
}

function readShown(directory: HotDirectory, ranked: HotRanked, path: string, now: Date): Candidate[] {
  try {
    const stat = lstatSync(path);
    if (!isMemorySized(stat)) return [];
    // The times of a checkout say nothing; private files are as old as their last touch.
    const stampMs = directory.inRepository ? ranked.saidMs || stat.mtimeMs : Math.max(ranked.saidMs, stat.mtimeMs);
    const header = formatHeader({
      path,
      scope: directory.scope,
      ageDays: ageInDays(stampMs, now.getTime()),
      source: ranked.isInferred ? { by: "inferred", session: null, message: null } : null,
      checked: openChecked(directory.path, now)(ranked.file, { bytes: stat.size, mtimeMs: stat.mtimeMs }),
      author: findAuthor(directory, ranked.file),
    });
    return [{ path, title: ranked.name, header, content: shownContent(readFileSync(path, "utf8")) }];
  } catch {
    return [];
  }
}
