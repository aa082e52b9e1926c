/** The commands about the health of memories: `rot`, `lint`, `verify`, `prune`. */

import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { MemoryType, Store } from "../store/store.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import { cut, wrapText } from "../text/wrap.ts";
import type { Measured, MeasuredDirectory } from "../truth/rot.ts";
import { type Suggestion, suggestPrune } from "../truth/rot.ts";
import { ROT_KINDS, type RotFinding, type RotKind } from "../truth/rot-findings.ts";
import type { Problem, Verification, VerifiedMemory } from "../truth/verify.ts";
import type { PruneResult } from "../verbs/forget.ts";
import {
  answer,
  type Call,
  canAsk,
  cancellable,
  countMemories,
  note,
  numberOf,
  type Run,
  typeOf,
  withProgress,
} from "./command.ts";
import type { Paint, Terminal } from "./terminal.ts";

/** The health of every memory together, on one screen. */
export const rot: Run = async (call) => {
  const memdir = await call.open();
  const measured: Measured[] = [];
  for (const directory of memdir.directories) {
    if (!directory.readOnly || directory === memdir.directories[0])
      measured.push((await measure(call, memdir, directory)).rot);
  }
  const [main, ...others] = measured as [Measured, ...Measured[]];
  return answer(call, { ...main, others }, () => viewRot(main, others, call.terminal, call.flag("all")));
};

function measure(call: Call, memdir: Memdir, directory: Store): Promise<MeasuredDirectory> {
  return withProgress(call, "reading memories", (show) => memdir.measure(directory, show));
}

const LABELS: Record<RotKind, string> = {
  secret: "secrets",
  unreadable: "unreadable",
  false: "no longer true",
  contradiction: "contradicted",
  duplicate: "duplicates",
  expired: "expired",
  "near-duplicate": "near-duplicates",
  restated: "in instructions",
  oversized: "oversized",
  unlinked: "not in the index",
  "dead-link": "dead links",
  "never-recalled": "never recalled",
  "without-cues": "without cues",
  unverifiable: "unverifiable",
};

/** As on most terminals. */
const DEFAULT_COLUMNS = 80;
/** Below it there is no room for large digits. */
const ROOMY = 48;
const MAX_BAR = 40;
const LABEL_WIDTH = 16;
/** Above the first all is well; below the second something is wrong. */
const GOOD = 80;
const POOR = 50;

/** The score in large digits, a bar for each kind of finding, what to do first; with `all` every finding. */
function viewRot(main: Measured, others: readonly Measured[], terminal: Terminal, all: boolean): string {
  const { color } = terminal;
  const columns = Math.max(20, terminal.columns || DEFAULT_COLUMNS);
  return [
    ...viewScore(main, columns, color),
    "",
    ...viewBars(main, columns, color),
    ...viewFirst(main, columns, color),
    ...(all ? viewAll(main, columns, color) : []),
    ...others.map((each) => color.dim(`${each.scope}: ${each.score} of 100, ${countMemories(each.memories)}`)),
  ].join("\n");
}

/** Three columns and five rows for each digit. */
const DIGITS: readonly string[] = [
  "███ █ █ █ █ █ █ ███",
  " █  ██   █   █  ███",
  "███   █ ███ █   ███",
  "███   █ ███   █ ███",
  "█ █ █ █ ███   █   █",
  "███ █   ███   █ ███",
  "███ █   ███ █ █ ███",
  "███   █   █   █   █",
  "███ █ █ ███ █ █ ███",
  "███ █ █ ███   █ ███",
];

function viewScore({ score, memories, scope, dir }: Measured, columns: number, color: Paint): string[] {
  const paint = score >= GOOD ? color.green : score >= POOR ? (text: string) => text : color.yellow;
  const words = score >= GOOD ? "in good health" : score >= POOR ? "needs some care" : "rotting";
  const about = [`${score} of 100: ${words}`, `${countMemories(memories)}, ${scope}`, sanitiseLine(dir)];
  if (columns < ROOMY) {
    const [first = "", ...rest] = about.map((line) => cut(line, columns));
    return [paint(color.bold(first)), ...rest];
  }
  const digits = [...String(score)].map((digit) => DIGITS[Number(digit)] as string);
  const width = 4 * digits.length + 4;
  return Array.from({ length: 5 }, (_, row) => {
    const drawn = digits.map((digit) => digit.slice(4 * row, 4 * row + 3).padEnd(3)).join(" ");
    const text = row === 1 ? color.bold(about[0] as string) : color.dim(cut(about[row - 1] ?? "", columns - width));
    return `  ${paint(drawn)}  ${row === 0 || row === 4 ? "" : text}`.trimEnd();
  });
}

function viewBars({ counts, memories }: Measured, columns: number, color: Paint): string[] {
  const kinds = ROT_KINDS.filter((kind) => counts[kind] > 0);
  if (kinds.length === 0) return [memories === 0 ? "There are no memories here yet." : "Nothing to fix."];
  const numbers = String(Math.max(...kinds.map((kind) => counts[kind]))).length;
  const room = Math.max(0, Math.min(MAX_BAR, columns - LABEL_WIDTH - numbers - 4));
  return kinds.map((kind) => {
    const share = Math.min(1, counts[kind] / Math.max(1, memories));
    // At least one block: a bar that cannot be seen says that there is nothing.
    const filled = room === 0 ? 0 : Math.max(1, Math.round(share * room));
    const bar = `${"█".repeat(filled)}${"░".repeat(Math.max(0, room - filled))}`;
    const isBad = ROT_KINDS.indexOf(kind) <= ROT_KINDS.indexOf("contradiction");
    return `  ${LABELS[kind].padEnd(LABEL_WIDTH)} ${isBad ? color.yellow(bar) : bar} ${String(counts[kind]).padStart(numbers)}`;
  });
}

function viewFirst({ first, findings }: Measured, columns: number, color: Paint): string[] {
  if (first.length === 0) return [];
  const lines = first.flatMap(({ kind, text, command }, at) => {
    const example = findings.find((each) => each.kind === kind) as RotFinding;
    return [
      ...wrapText(`${at + 1}. ${text}`, columns - 5).map((line, row) => `${row === 0 ? "  " : "     "}${line}`),
      color.dim(cut(`     ${sanitiseLine(`${example.file}: ${example.detail}`)}`, columns)),
      `     ${sanitiseLine(command)}`,
    ];
  });
  return ["", color.bold("What to do first"), ...lines];
}

function viewAll({ findings }: Measured, columns: number, color: Paint): string[] {
  const lines = findings.map(({ kind, file, detail }) => {
    return cut(`  ${LABELS[kind]}: ${sanitiseLine(`${file}: ${detail}`)}`, Math.max(columns, DEFAULT_COLUMNS));
  });
  return lines.length > 0 ? ["", color.bold("Everything"), ...lines] : [];
}

/** Format and wording of every memory and of the index, each with what to do. */
export const lint: Run = async (call) => {
  const problems = await (await call.open()).lint();
  const { dim } = call.terminal.color;
  const say = () => [
    ...problems.map(({ file, line, rule, message }) => {
      const place = `${sanitiseLine(file)}${line === null ? "" : `:${line}`}`;
      return `${place}: ${sanitiseLine(message)} ${dim(`(${rule})`)}`;
    }),
    problems.length === 0 ? "Nothing to fix." : `${problems.length} to fix`,
  ];
  return answer(call, { problems }, say, problems.length === 0 ? 0 : 1);
};

export const verify: Run = cancellable(async (call, { signal }) => {
  const memdir = await call.open();
  const result = await withProgress(call, "files", (onProgress) =>
    memdir.verify(call.args[0], {
      changedSince: call.value("changed-since"),
      fix: call.flag("fix"),
      stamp: call.flag("no-stamp") ? "none" : call.flag("stamp") ? "all" : "private",
      signal,
      onProgress,
    }),
  );
  return answer(call, result, () => printVerified(call, result), result.problems.length === 0 ? 0 : 1);
});

function printVerified(call: Call, { checked, problems, memories, fixed, stamped, undo, notes }: Verification): void {
  const { terminal } = call;
  const { color } = terminal;
  for (const { file, line, claim, verdict, evidence } of problems) {
    const place = color.bold(`${sanitiseLine(file)}:${line}`);
    terminal.print(
      `${place}: ${color.yellow(verdict)} ${sanitiseLine(claim)} ${color.dim(`(${sanitiseLine(evidence)})`)}`,
    );
  }
  for (const { file, from, to } of fixed) {
    terminal.print(
      `${color.bold(sanitiseLine(file))}: ${color.green("fixed")} ${sanitiseLine(from)} is now ${sanitiseLine(to)}`,
    );
  }
  const countOf = (verdict: VerifiedMemory["verdict"]) =>
    memories.filter((memory) => memory.verdict === verdict).length;
  const [holding, doubtful] = [countOf("holds"), countOf("doubtful")];
  const summary = [
    `${holding} ${holding === 1 ? "holds" : "hold"}`,
    ...(fixed.length > 0 ? [`${countOf("fixed")} fixed`] : []),
    `${doubtful} with problems${problems.length > doubtful ? ` (${problems.length} in all)` : ""}`,
    `${countOf("unchecked")} with nothing to check or not all of it known`,
  ];
  const stamps = stamped > 0 ? `; ${stamped} stamped as verified` : "";
  terminal.print(`${countMemories(checked)} checked: ${summary.join(", ")}${stamps}`);
  if (problems.some(isMechanical) && !call.flag("fix")) terminal.print("memdir verify --fix writes the new paths");
  for (const id of undo) terminal.print(color.dim(`memdir undo ${id} reverts it`));
  note(call, notes.map(sanitiseLine));
}

function isMechanical({ verdict, what }: Problem): boolean {
  return verdict === "moved" && (what === "path" || what === "script");
}

const DEFAULT_DAYS = 90;

/** Forgets old memories; with --suggest it says what could go and why, and asks. */
export const prune: Run = async (call) => {
  const days = numberOf(call, "older-than", { min: 1 }) ?? DEFAULT_DAYS;
  const type = typeOf(call) ?? "project";
  if (type === "feedback")
    throw new MemdirError("usage", "--type takes project, reference or user: feedback is never pruned");
  if (call.flag("apply") && !call.flag("suggest"))
    throw new MemdirError("usage", "--apply belongs to --suggest; without both, old memories are forgotten at once");
  const memdir = await call.open();
  if (call.flag("suggest")) return suggest(call, memdir, { type, days });
  const result = await memdir.prune({ type, olderThanDays: days, dryRun: false });
  return answer(call, result, () => [
    ...result.memories.map(({ file, ageDays }) => `forgot ${sanitiseLine(file)} (${ageDays} days old)`),
    ...(result.memories.length === 0 ? [`No ${type} memory is older than ${days} days.`] : []),
    ...undoLine(result),
  ]);
};

async function suggest(call: Call, memdir: Memdir, old: { type: MemoryType; days: number }): Promise<number> {
  const { json, terminal } = call;
  const suggestions = await findSuggestions(call, memdir, old);
  const files = suggestions.filter(({ byHand }) => !byHand);
  if (!json) for (const line of describeSuggestions(suggestions)) terminal.print(line);
  const isAsking = canAsk(call) && !call.flag("apply") && files.length > 0;
  const isMeant = call.flag("apply") || (isAsking && (await terminal.ask(`Forget ${countMemories(files.length)}?`)));
  const result = await memdir.prune({ files, dryRun: !isMeant });
  return answer(call, { ...result, suggestions }, () => {
    if (isMeant) {
      const forgotten = `forgot ${countMemories(result.memories.length)}`;
      return [files.length === 0 ? "Nothing was forgotten." : forgotten, ...undoLine(result)];
    }
    if (files.length > 0 && !isAsking) note(call, ["nothing was forgotten; --apply does it"]);
    return [];
  });
}

/** What rot found, and what is merely old. */
async function findSuggestions(
  call: Call,
  memdir: Memdir,
  { type, days }: { type: MemoryType; days: number },
): Promise<Suggestion[]> {
  const [main] = memdir.directories;
  if (!main) return [];
  const { rot, memories } = await measure(call, memdir, main);
  const found = suggestPrune(rot, memories);
  const known = new Set(found.flatMap(({ file, instead }) => [file, ...instead]));
  const old = await memdir.prune({ type, olderThanDays: days, dryRun: true });
  const aged = old.memories
    .filter(({ file }) => !known.has(file))
    .map(({ file, ageDays }) => ({ file, reason: `${ageDays} days old`, byHand: false, instead: [] }));
  return [...found, ...aged].sort((a, b) => (a.file < b.file ? -1 : 1));
}

function describeSuggestions(suggestions: readonly Suggestion[]): string[] {
  if (suggestions.length === 0) return ["Nothing needs to go."];
  return suggestions.map(({ file, reason, byHand }) => {
    const what = byHand ? "you may forget" : "would forget";
    return `${what} ${sanitiseLine(file)} (${sanitiseLine(reason)})`;
  });
}

function undoLine({ undo }: PruneResult): string[] {
  return undo === null ? [] : [`memdir undo ${undo} brings them back`];
}
