/**
 * A host's prompt comes in, the memories that help go out. `hook.ts` runs it and catches all errors: the host then continues
 * without memories.
 */

import { basename, join } from "node:path";
import { type Config, processEnv } from "../config.ts";
import { runAtOnce } from "../disk/breathe.ts";
import { openWords } from "../meaning/words.ts";
import { findDirectories, findPlace } from "../project/scopes.ts";
import { fitMemories, MAX_MEMORIES } from "../recall/budget.ts";
import { chooseMemories, type PromptMeaning } from "../recall/choose.ts";
import { formatHeader, presentFirst, shownContent } from "../recall/injection.ts";
import { isTooShort } from "../recall/prefetch.ts";
import { addEntry, type Digest, openResident, refresh } from "../recall/resident.ts";
import { queryTerms } from "../recall/score.ts";
import { logSurfaced, readSurfaced, writeSurfaced } from "../recall/surface-log.ts";
import { ageInDays, type Directory } from "../store/store.ts";
import {
  cwdOf,
  type Deadline,
  type EventInput,
  formatContext,
  type HookRun,
  MAX_CHARS,
  openDeadline,
  rehearsedDirectory,
  rehearsedEntry,
  sessionOf,
  writeAll,
} from "./event.ts";

export interface HookInput extends EventInput {
  prompt?: unknown;
}

/** A byte is at most a character. */
const MAX_BYTES = MAX_CHARS;
const WORDS_FILE = join(__dirname, "words.bin");

/** Gemini CLI puts what hooks added at the start of the session before the user's first prompt. */
const HOST_CONTEXT = /^(?:\s*<hook_context>[\s\S]*?<\/hook_context>)+/;

/** Whether anything was shown. */
export function main(input: HookInput): boolean {
  const deadline = openDeadline();
  const { text, search, keep } = respond(input, new Date(), deadline);
  const name = typeof input.hook_event_name === "string" ? input.hook_event_name : "UserPromptSubmit";
  if (text !== "") writeAll(1, formatContext(name, text));
  keep();
  search?.();
  if (deadline.missed > 0) throw new Error(`time was up before ${deadline.missed} changed memories were read`);
  return text !== "";
}

/** The text to add to this prompt; "" for none. */
export function answer(input: HookInput, now: Date): string {
  return respond(input, now, openDeadline()).text;
}

interface Response {
  text: string;
  /** Caches what changed on disk for the next prompt; called after the answer, which does not wait for it. */
  keep: () => void;
  /** Starts a model's search in the background of the turn; null where none is wanted. */
  search: (() => void) | null;
}

const NOTHING: Response = { text: "", keep: () => {}, search: null };

function respond(input: HookInput, now: Date, deadline: Deadline): Response {
  const prompt = typeof input.prompt === "string" ? input.prompt.replace(HOST_CONTEXT, "") : "";
  if (isTooShort(prompt)) return NOTHING;
  const cwd = cwdOf(input);
  const session = sessionOf(input);
  const { config, location } = findPlace({ cwd }, processEnv());
  if (config.disabled !== null) return NOTHING;
  deadline.set(config.hooks.deadlineMs);
  const { directories } = findDirectories({ cwd, now: () => now, withOlder: false }, config, location);
  const open = directories.filter(({ readOnly }) => !readOnly);
  const main = open[0]?.path;
  if (main === undefined) return NOTHING;
  const recalled = recallFor({ prompt, session, config, open, now, deadline }, main);
  if (session === null || !wantsSearch(config)) return { ...recalled, search: null };
  const search = () => {
    const { startPrefetch } = require("./hook-prefetch.cjs") as typeof import("./prefetch.ts");
    startPrefetch(main, { cwd, session, prompt, nowMs: now.getTime() });
  };
  return { ...recalled, search };
}

interface Asked extends Pick<HookRun, "deadline"> {
  prompt: string;
  session: string | null;
  config: Config;
  open: readonly Directory[];
  now: Date;
}

/** `main` is the directory that records what the session was shown. */
function recallFor({ prompt, session, config, open, now, deadline }: Asked, main: string): Omit<Response, "search"> {
  const surfaced = readSurfaced(main, session);
  if (surfaced.isFull()) return NOTHING;
  const digest: Digest = (...file) => (deadline.isMissed() ? null : digestNow(...file));
  const resident = openResident(open);
  const news = runAtOnce(refresh(resident, { digest }));
  const asking = { prompt, meaning: openMeaning(config), nowMs: now.getTime(), session: surfaced };
  const { ranked, method } = chooseMemories(resident, asking) ?? { ranked: [], method: "lexical" };
  const chosen = presentFirst(resident, ranked, { now, digest, limit: MAX_MEMORIES });
  const { memories, text } = fitMemories(chosen, { maxBytes: MAX_BYTES, sessionLeft: surfaced.bytesLeft() });
  const keep = () => {
    if (news.length === 0) return;
    const { keepNews } = require("./hook-stale.cjs") as typeof import("./rules.ts");
    for (const each of news) keepNews(open[each.owner] as Directory, each);
  };
  if (memories.length === 0) return { text, keep };
  surfaced.surface(memories);
  writeSurfaced(main, session, surfaced);
  // A rehearsal has no session and shows nothing.
  if (session !== null) {
    const logged = memories.map(({ entry: { file }, ranked: { owner, confidence } }) => {
      return { file, scope: open[owner]?.scope ?? "", why: [`${method}: confidence ${confidence.toFixed(2)}`] };
    });
    logSurfaced(main, { at: now, session, door: "hook", prompt, memories: logged });
  }
  return { text, keep };
}

function openMeaning({ meaning }: Pick<Config, "meaning">): PromptMeaning {
  if (meaning === "off") return null;
  if (meaning === "minilm") {
    const { findEmbed } = require("./hook-meaning.cjs") as typeof import("../meaning/meaning.ts");
    const embed = findEmbed();
    return embed && { embed };
  }
  const words = openWords(WORDS_FILE);
  return words && { words };
}

/** Only if the user wants it and there is a model: it costs a request for every prompt. */
function wantsSearch({ hooks }: Config): boolean {
  const { MEMDIR_RECALL, MEMDIR_MODEL = "" } = processEnv();
  return (hooks.prefetch || MEMDIR_RECALL === "model") && MEMDIR_MODEL.trim() !== "";
}

/** Runs everything once, so that all of it is in the compiled code that is kept, whatever this prompt needed. */
export function rehearse(): void {
  const now = new Date(0);
  // Without a session nothing is recorded.
  answer({ prompt: "a prompt of several words, and what_it names in src/it.ts" }, now);
  const header = formatHeader({ path: __filename, scope: "team", ageDays: ageInDays(0, 1e12), source: null });
  const content = shownContent("---\nname: one\nwhen:\n  - two\n---\n\nThree.\n");
  const candidate = { path: __filename, title: "one", header, content };
  fitMemories([candidate, { ...candidate, content: content.repeat(1000) }], { maxBytes: MAX_BYTES, sessionLeft: 1e5 });
  const prompt = "three rare words";
  const resident = openResident([rehearsedDirectory(__dirname)]);
  const hashes = queryTerms(prompt).map(({ hash }) => hash);
  addEntry(resident, 0, rehearsedEntry(basename(__filename), hashes));
  const meaning = openMeaning({ meaning: "words" });
  const choice = chooseMemories(resident, { prompt, meaning, nowMs: 0, everything: true });
  presentFirst(resident, choice?.ranked ?? [], { now, digest: () => "same", limit: MAX_MEMORIES });
}

/** The order of all memories for a prompt: what `npm run bench:recall` measures. */
export function rankPrompt(
  directories: readonly Directory[],
  prompt: string,
  { nowMs, meaning = "words" }: { nowMs: number; meaning?: Config["meaning"] },
): { order: { file: string; confidence: number }[]; shown: string[]; method: string } {
  const resident = openResident(directories);
  runAtOnce(refresh(resident, { digest: digestNow }));
  const choice = chooseMemories(resident, { prompt, meaning: openMeaning({ meaning }), nowMs });
  return {
    order: (choice?.all ?? []).map(({ entry: { file }, confidence }) => ({ file, confidence })),
    shown: (choice?.ranked ?? []).slice(0, MAX_MEMORIES).map(({ entry: { file } }) => file),
    method: choice?.method ?? "lexical",
  };
}

/** Files that are not in the cache are rare, and reading them takes much code: it is in a bundle of its own. */
function digestNow(...file: Parameters<Digest>): ReturnType<Digest> {
  const { digestStale } = require("./hook-stale.cjs") as typeof import("./rules.ts");
  return digestStale(...file);
}
