/**
 * The hot path: a host's prompt comes in, the memories that help go out. `hook.ts` runs it. It fails open: whatever goes wrong,
 * the host goes on without memories.
 */

import { lstatSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { processEnv } from "../config.ts";
import { findDirectories, findPlace } from "../directories.ts";
import { ageInDays } from "../memory/age.ts";
import { type Candidate, fitMemories, MAX_MEMORIES } from "../recall/budget.ts";
import type { Entry } from "../recall/entry.ts";
import { type HotAnswer, type HotDirectory, type HotOptions, type HotRanked, recallHot } from "../recall/hot.ts";
import { formatHeader } from "../recall/injection.ts";
import { isTooShort } from "../recall/prefetch.ts";
import { shownContent } from "../recall/shown.ts";
import { clearSurfaced, readSurfaced, writeSurfaced } from "../recall/surfaced.ts";

/** What Claude Code and its kin pass to a hook; everything else is ignored. */
export interface HookInput {
  hook_event_name?: unknown;
  /** Why a session starts. */
  source?: unknown;
  prompt?: unknown;
  cwd?: unknown;
  session_id?: unknown;
}

/** Hooks may add 10,000 characters in all; a byte is at most a character. */
const MAX_BYTES = 9_500;
const WORDS_FILE = join(__dirname, "words.bin");

/** Whether there was something to say. */
export function main(input: HookInput): boolean {
  try {
    const text = answer(input, new Date());
    // Not through process.stdout: to open it, Node loads its streams, and that takes longer than all of this.
    if (text !== "") writeAll(1, formatOutput(text));
    return text !== "";
  } catch (error) {
    if (processEnv().MEMDIR_DEBUG) writeAll(2, `memdir: ${(error as Error).stack}\n`);
    return false;
  }
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

function formatOutput(additionalContext: string): string {
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext } })}\n`;
}

/** The text to add to this prompt; "" for none. */
export function answer(input: HookInput, now: Date): string {
  const prompt = typeof input.prompt === "string" ? input.prompt : "";
  const isCleared = input.hook_event_name === "SessionStart" && /^(clear|compact)$/.test(String(input.source));
  if (!isCleared && isTooShort(prompt)) return "";
  const cwd = typeof input.cwd === "string" && input.cwd !== "" ? input.cwd : process.cwd();
  const session = typeof input.session_id === "string" ? input.session_id : null;
  const env = processEnv();
  const place = findPlace({ cwd }, env);
  if (place.config.disabled !== null) return "";
  const { directories } = findDirectories({ cwd, now: () => now, withOlder: false }, place.config, place.location);
  const open = directories.filter(({ readOnly }) => !readOnly);
  const [main] = open;
  if (!main) return "";
  if (isCleared) {
    // The model has forgotten what it was shown.
    if (session !== null) clearSurfaced(main.path, session);
    return "";
  }
  const surfaced = readSurfaced(main.path, session);
  if (surfaced.isFull()) return "";
  const wordsFile = place.config.meaning ? WORDS_FILE : null;
  const { shown } = recallHot(open, prompt, { nowMs: now.getTime(), wordsFile, digest: digestNow });
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
    writeSurfaced(main.path, session, surfaced);
  }
  return text;
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
    if (!stat.isFile()) return [];
    // The times of a checkout say nothing; private files are as old as their last touch.
    const stampMs = directory.inRepository ? ranked.saidMs || stat.mtimeMs : Math.max(ranked.saidMs, stat.mtimeMs);
    const header = formatHeader({
      path,
      scope: directory.scope,
      ageDays: ageInDays(stampMs, now.getTime()),
      source: ranked.isInferred ? { by: "inferred", session: null, message: null } : null,
    });
    return [{ path, title: ranked.name, header, content: shownContent(readFileSync(path, "utf8")) }];
  } catch {
    return [];
  }
}
