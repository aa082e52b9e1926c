/** The picture that `memdir rot` draws: the score in large digits, a bar for each kind of finding, what to do first. */

import type { Measured } from "../truth/rot.ts";
import { ROT_KINDS, type RotFinding, type RotKind } from "../truth/rot-findings.ts";
import type { Color } from "./command.ts";
import { sanitiseLine } from "./console/sanitise.ts";

export interface RotLook {
  /** Undefined on a pipe. */
  columns: number | undefined;
  /** Every finding, not only one of each kind. */
  all: boolean;
  color: Color;
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

export function viewRot(main: Measured, others: readonly Measured[], look: RotLook): string {
  const columns = Math.max(20, look.columns || DEFAULT_COLUMNS);
  const lines = [
    ...viewScore(main, columns, look.color),
    "",
    ...viewBars(main, columns, look.color),
    ...viewFirst(main, columns, look.color),
    ...(look.all ? viewAll(main, columns, look.color) : []),
    ...others.map((each) => look.color.dim(`${each.scope}: ${each.score} of 100, ${count(each.memories)}`)),
  ];
  return lines.join("\n");
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

function viewScore({ score, memories, scope, dir }: Measured, columns: number, color: Color): string[] {
  const paint = score >= GOOD ? color.green : score >= POOR ? (text: string) => text : color.yellow;
  const words = score >= GOOD ? "in good health" : score >= POOR ? "needs some care" : "rotting";
  const about = [`${score} of 100: ${words}`, `${count(memories)}, ${scope}`, sanitiseLine(dir)];
  if (columns < ROOMY) {
    const [first = "", ...rest] = about.map((line) => clip(line, columns));
    return [paint(color.bold(first)), ...rest];
  }
  const digits = [...String(score)].map((digit) => DIGITS[Number(digit)] as string);
  const width = 4 * digits.length + 4;
  return Array.from({ length: 5 }, (_, row) => {
    const drawn = digits.map((digit) => digit.slice(4 * row, 4 * row + 3).padEnd(3)).join(" ");
    const text = row === 1 ? color.bold(about[0] as string) : color.dim(clip(about[row - 1] ?? "", columns - width));
    return `  ${paint(drawn)}  ${row === 0 || row === 4 ? "" : text}`.trimEnd();
  });
}

function viewBars({ counts, memories }: Measured, columns: number, color: Color): string[] {
  const kinds = ROT_KINDS.filter((kind) => counts[kind] > 0);
  if (kinds.length === 0) return [memories === 0 ? "There are no memories here yet." : "Nothing to mend."];
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

function viewFirst({ first, findings }: Measured, columns: number, color: Color): string[] {
  if (first.length === 0) return [];
  const lines = first.flatMap(({ kind, text, command }, at) => {
    const example = findings.find((each) => each.kind === kind) as RotFinding;
    return [
      ...fold(`${at + 1}. ${text}`, columns - 2, "   ").map((line) => `  ${line}`),
      color.dim(clip(`     ${sanitiseLine(`${example.file}: ${example.detail}`)}`, columns)),
      `     ${sanitiseLine(command)}`,
    ];
  });
  return ["", color.bold("What to do first"), ...lines];
}

function viewAll({ findings }: Measured, columns: number, color: Color): string[] {
  const lines = findings.map(({ kind, file, detail }) => {
    return clip(`  ${LABELS[kind]}: ${sanitiseLine(`${file}: ${detail}`)}`, Math.max(columns, DEFAULT_COLUMNS));
  });
  return lines.length > 0 ? ["", color.bold("Everything"), ...lines] : [];
}

function count(memories: number): string {
  return memories === 1 ? "1 memory" : `${memories} memories`;
}

function clip(text: string, columns: number): string {
  const letters = [...text];
  return letters.length > columns ? `${letters.slice(0, Math.max(0, columns - 1)).join("")}…` : text;
}

/** At blanks, the further lines indented. */
function fold(text: string, columns: number, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = indent + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
