/**
 * What a model is shown: what would be recalled for a prompt, what nearly would, and why, by the real ranking; and what a
 * host loads at start, what it skips, and what touching a file adds.
 */

import { resolve } from "node:path";
import { MAX_HOOK_CHARS } from "../config.ts";
import { isWithin, realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { choice, text } from "../input.ts";
import type { InstructionFile } from "../instructions/file.ts";
import type { Memdir } from "../memdir.ts";
import { approximateTokens } from "../model/cost.ts";
import { thresholdOf } from "../recall/confidence.ts";
import { MAX_SESSION_MEMORY_BYTES, openRecallSession } from "../recall/injection.ts";
import { isTooShort } from "../recall/prefetch.ts";
import type { Recalled, RecallResult } from "../recall/recall.ts";
import { context } from "../verbs/context.ts";
import { capitalise, clip, contextOf, get, look, type Page, refOf, TEXT } from "./answer.ts";
import { openLinkage } from "./answer-map.ts";
import { buildMarkdownTree } from "./markdown-tree.ts";

/** The candidates, and as many again that are not. */
const MAX_INSPECTED = 50;
/** How many of the order recall looks at when it decides what is sure enough. */
const MAX_JUDGED = 25;

export const RECALL_ROUTES = [
  look("/api/inspect", { prompt: TEXT, adapter: choice(["hook", "library"]) }, ({ memdir }, { prompt, adapter }) =>
    inspectRecall(memdir, prompt, adapter ?? "hook"),
  ),
  get("/api/context", { touch: text() }, viewContext),
];

export async function viewContext(page: Page, { touch }: { touch?: string | undefined }, signal: AbortSignal) {
  const touched = touch ? [insideProject(page.memdir, touch)] : [];
  const { memory, instructions, nested, skipped, warnings } = await readContext(page, touched, signal);
  const { index, truncated: isCut } = memory;
  const body = await buildMarkdownTree(index ?? "", openLinkage(page.memdir).find);
  return {
    loaded: instructions.map(instructionRow),
    notLoaded: skipped.map(({ path, reason }) => ({ path, reason })),
    added: nested.map(instructionRow),
    index: index ? { bytes: Buffer.byteLength(index), isCut, body } : null,
    warnings,
  };
}

export async function inspectRecall(memdir: Memdir, prompt: string, adapter: "hook" | "library") {
  const maxBytes = adapter === "hook" ? MAX_HOOK_CHARS : MAX_SESSION_MEMORY_BYTES;
  // Without a budget, so that nothing drops out of the order.
  const session = openRecallSession({ maxBytes: Number.POSITIVE_INFINITY });
  const all = await memdir.recall(prompt, { everything: true, model: false, limit: MAX_INSPECTED, session });
  const isAsked = adapter === "library" || !isTooShort(prompt);
  const shown = isAsked ? await memdir.recall(prompt, { model: false, maxBytes }) : null;
  const judged = all.memories.slice(0, MAX_JUDGED).map((each) => ({ ...each, hasCues: each.when.length > 0 }));
  const threshold = judged.length === 0 ? 0 : thresholdOf(judged, all.method);
  return {
    method: isAsked ? all.method : "skipped: a hook does not run recall for a prompt of a single word",
    considered: all.considered,
    tookMs: (shown ?? all).tookMs,
    /** The most confident first. */
    memories: all.memories
      .map((memory) => inspect(memdir, memory, shown, threshold))
      .sort((a, b) => b.confidence - a.confidence),
    /** Exactly what the model would get. */
    text: shown?.text ?? "",
    bytes: Buffer.byteLength(shown?.text ?? ""),
    maxBytes,
    adapter,
  };
}

export function inspect(memdir: Memdir, memory: Recalled, shown: RecallResult | null, threshold: number) {
  const { name, scope, type, confidence } = memory;
  const isShown = shown?.memories.some(({ path }) => path === memory.path) ?? false;
  const isSure = shown !== null && shown.memories.length + shown.leftOut.length > 0 && confidence >= threshold;
  // Above the threshold but not shown: there were five better ones, or no space.
  const outcome = isShown ? "shown" : isSure ? "no-room" : "unsure";
  const facts = { name, scope, type, outcome, confidence: scale(confidence, threshold) } as const;
  return { ...refOf(memdir, memory), ...facts, reasons: reasonsOf(memory) };
}

/** Where a memory is shown, on a scale that is the same for every prompt: recall's own depends on how it was ranked. */
const SHOWN_AT = 0.5;

/** From 0 to 1: half of it where the threshold is. */
function scale(confidence: number, threshold: number): number {
  if (confidence <= 0) return 0;
  const share = confidence < threshold ? SHOWN_AT * (confidence / threshold) : 1 - SHOWN_AT * (threshold / confidence);
  return Math.round(share * 100) / 100;
}

/** What recall says of its reasons, as sentences. */
function reasonsOf({ why }: Recalled): string[] {
  return why.flatMap((says) => {
    const [, what = "", rest = says] = /^(words|meaning|links|age): (.*)$/.exec(says) ?? [];
    if (what === "words") return `It contains ${rest}.`;
    if (what === "links") return "A memory that it belongs with contains the words.";
    if (what === "age") return rest === "" ? [] : `It was written ${rest}.`;
    // The scale says it.
    if (what !== "meaning") return says === "low confidence" ? [] : `${capitalise(says)}.`;
    const [, cue] = /^cue "(.*)" \([^)]*\)$/.exec(rest) ?? [];
    return cue === undefined ? "It is about something similar." : `Its cue “${cue}” is about the same.`;
  });
}

/** As the verb shows it, and nothing is read of a directory that is not trusted: the page shows what memdir uses. */
export function readContext(page: Page, touch: string[], signal: AbortSignal) {
  const location = { ...page.memdir.location, untrusted: null };
  return context.run({ ...page.memdir, location }, { touch }, contextOf(page, signal));
}

/** The file need not exist: what would be loaded depends on its path alone. */
function insideProject({ location: { project } }: Memdir, path: string): string {
  const touched = resolve(project.cwd, path);
  if (path.includes("\0") || !isWithin(realPath(project.worktreeRoot ?? project.cwd), realPath(touched))) {
    throw new MemdirError(
      "outside",
      `${JSON.stringify(path.slice(0, 80))} is outside the project; give a file inside it`,
    );
  }
  return touched;
}

/** Instructions are never megabytes long, and the page shows all of them at once. */
const MAX_TEXT_CHARS = 200_000;

export function instructionRow({ path, source, content, label, importedBy }: InstructionFile) {
  return {
    path,
    source,
    bytes: Buffer.byteLength(content),
    tokens: approximateTokens(content),
    reason: importedBy === null ? label : `imported by ${importedBy}`,
    text: clip(content, MAX_TEXT_CHARS),
  };
}
