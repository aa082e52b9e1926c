/** Which words of two texts differ, and one text made of two by what a person picks of each part. */
import { diffLines } from "../../../text/diff.ts";
import type { DiffLine, TextPart } from "../../api.ts";

interface Run {
  kind: DiffLine["kind"];
  text: string;
}

/** Words, numbers, spaces and single signs; scripts without spaces by the character. */
const TOKENS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}_]+|\s+|./gu;

/** What stays, goes and comes, in order; a space between two changes belongs to them. */
export function diffWords(before: string, after: string): Run[] {
  const runs: Run[] = [];
  const put = (kind: Run["kind"], text: string) => {
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== "") runs.push({ kind, text });
  };
  let [removed, added, gap] = ["", "", ""];
  const close = () => {
    put("removed", removed);
    put("added", added);
    [removed, added] = ["", ""];
  };
  for (const { kind, text } of diffLines(before.match(TOKENS) ?? [], after.match(TOKENS) ?? [])) {
    if (kind === "same" && removed + added !== "" && /^\s+$/.test(text)) gap += text;
    else if (kind === "same") {
      close();
      put("same", gap + text);
      gap = "";
    } else {
      removed += gap;
      added += gap;
      gap = "";
      if (kind === "removed") removed += text;
      else added += text;
    }
  }
  close();
  put("same", gap);
  return runs;
}

export type Pick = "left" | "right" | "both" | "none";

/** The first one plus what only the other says. */
export function suggestPicks(parts: readonly TextPart[]): Pick[] {
  return parts.map(({ field, before, after }) =>
    before === null ? "right" : field === "when" && after !== null && after !== before ? "both" : "left",
  );
}

/** The merged file. Blocks are separated by one blank line. */
export function mergeParts(parts: readonly TextPart[], picks: readonly Pick[]): string {
  const [head, blocks]: [string[], string[]] = [[], []];
  for (const [at, { field, before, after, lines }] of parts.entries()) {
    const pick = picks[at] ?? "left";
    const [left, right] = lines ?? [before, after];
    const isSame = before === after;
    if (pick === "none") continue;
    if (field === "when" && pick === "both") head.push(joinLists(left ?? "", right ?? ""));
    else if (field !== null) head.push((pick === "right" ? right : left) ?? "");
    else if (isSame) blocks.push(left ?? "");
    else
      blocks.push(...[pick === "right" ? null : left, pick === "left" ? null : right].filter((each) => each !== null));
  }
  const body = `${blocks.join("\n\n")}\n`;
  return head.length === 0 ? body : `---\n${head.map(endLine).join("")}---\n\n${body}`;
}

function endLine(lines: string): string {
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** A list in the head, with the lines of the second that the first does not have. */
function joinLists(left: string, right: string): string {
  const [head = "when:", ...items] = (left || right).split("\n").filter((line) => line !== "");
  const isList = (text: string) => /^\s*\w+:\s*$/.test(text.split("\n")[0] ?? "");
  if (!isList(left) || !isList(right)) return left || right;
  const known = new Set(items.map((item) => item.trim().toLowerCase()));
  const more = right.split("\n").slice(1);
  return [head, ...items, ...more.filter((item) => item.trim() !== "" && !known.has(item.trim().toLowerCase()))].join(
    "\n",
  );
}
