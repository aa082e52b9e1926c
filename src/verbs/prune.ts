/** `prune`: old memories go, or what could go is suggested. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { MEMORY_TYPES, type MemoryType } from "../store/store.ts";
import { type Suggestion, suggestPrune } from "../truth/health.ts";
import { type Context, choice, countMemories, flag, type Line, notes, number, verb } from "../verb.ts";
import { YES } from "./common.ts";

const DEFAULT_DAYS = 90;

export const prune = verb({
  args: [],
  input: {
    "older-than": number("how old, in days (default: 90)", { min: 1, value: "DAYS" }),
    type: choice(MEMORY_TYPES, "only this type: project (default), reference or user", "TYPE"),
    suggest: flag("suggest what to forget and why, and ask"),
    apply: flag("with --suggest: do it without asking"),
    yes: YES,
  },
  examples: ["prune --suggest"],
  writes: ({ suggest, apply }) => suggest !== true || apply === true,
  async run(memdir, { "older-than": days = DEFAULT_DAYS, type = "project", suggest, apply = false, yes }, context) {
    if (type === "feedback")
      throw new MemdirError("usage", "--type takes project, reference or user: feedback is never pruned");
    if (apply && !suggest)
      throw new MemdirError("usage", "--apply belongs to --suggest; without both, old memories are forgotten at once");
    if (!suggest) {
      const old = { type, olderThanDays: days };
      const planned = await memdir.prune({ ...old, dryRun: true });
      if (context.ask === null || yes || planned.memories.length === 0) return memdir.prune({ ...old, dryRun: false });
      context.show(planned.memories.map(({ file, ageDays }) => `would forget ${file} (${ageDays} days old)`));
      const isMeant = await context.ask(`Forget ${countMemories(planned.memories.length)}?`);
      return isMeant ? memdir.prune({ ...old, dryRun: false }) : { ...planned, memories: [], isDeclined: true };
    }
    const suggestions = await findSuggestions(memdir, context, type, days);
    const files = suggestions.filter(({ byHand }) => !byHand);
    const isAsked = context.ask !== null && !apply && files.length > 0;
    if (isAsked) context.show(describe(suggestions));
    const isMeant = apply || (isAsked && (await context.ask?.(`Forget ${countMemories(files.length)}?`)) === true);
    const result = await memdir.prune({ files, dryRun: !isMeant });
    return {
      ...result,
      suggestions,
      outcome: isMeant ? "done" : isAsked ? "declined" : files.length > 0 ? "shown" : "none",
    };
  },
  say(result, { input, call }) {
    const { memories, undo } = result;
    const back = undo === null ? [] : [`${call(`undo ${undo}`)} brings ${memories.length === 1 ? "it" : "them"} back`];
    if ("outcome" in result) {
      const { outcome, suggestions } = result;
      // Whoever was asked has seen them.
      const listed = outcome === "declined" ? [] : describe(suggestions);
      const forgot = memories.length === 0 ? "Nothing was forgotten." : `forgot ${countMemories(memories.length)}`;
      if (outcome === "done") return [...(input.apply ? describe(suggestions, "forgot") : []), forgot, ...back];
      return outcome === "shown" ? [...listed, ...notes(["nothing was forgotten; --apply does it"])] : listed;
    }
    const { type = "project", "older-than": days = DEFAULT_DAYS } = input;
    if ("isDeclined" in result) return ["Nothing was forgotten."];
    if (memories.length === 0) return [`No ${type} memory is older than ${days} days.`];
    return [...memories.map(({ file, ageDays }) => `forgot ${file} (${ageDays} days old)`), ...back];
  },
});

/** What the health check found, and what is merely old. */
async function findSuggestions(memdir: Memdir, context: Context, type: MemoryType, days: number) {
  const { health, memories } = await memdir.measure(undefined, context.progress("reading memories"));
  const found = suggestPrune(health, memories);
  const known = new Set(found.flatMap(({ file, instead }) => [file, ...instead]));
  const old = await memdir.prune({ type, olderThanDays: days, dryRun: true });
  const aged = old.memories
    .filter(({ file }) => !known.has(file))
    .map(({ file, ageDays }) => ({ file, reason: `${ageDays} days old`, byHand: false, instead: [] }));
  return [...found, ...aged].sort((a, b) => (a.file < b.file ? -1 : 1));
}

function describe(suggestions: readonly Suggestion[], verb = "would forget"): Line[] {
  if (suggestions.length === 0) return ["Nothing needs to go."];
  return suggestions.map(({ file, reason, byHand }) => `${byHand ? "you may forget" : verb} ${file} (${reason})`);
}
