/** Measures what is shown by default against labels: how much of what is called moved, gone or expired is so, and how much of what is so is called so. */

import fs from "node:fs";
import path from "node:path";
import { isProblem, isShown } from "../../../src/truth/claim.ts";
import { type Examination, examine } from "../../../src/truth/examination.ts";
import { buildHistory, TODAY } from "./history.ts";

export type Label = "true" | "moved" | "gone" | "expired" | "not";

export interface Labelled {
  id: string;
  type: string;
  written: string;
  text: string;
  labels: { label: Label; text: string }[];
}

export interface Figures {
  claims: number;
  precision: number;
  recall: number;
  /** By the kind of claim: right, wrong, missed. */
  kinds: Record<string, { right: number; wrong: number; missed: number }>;
  wrong: string[];
  missed: string[];
}

export function readCorpus(...names: string[]): Labelled[] {
  return names.flatMap((name) => {
    const text = fs.readFileSync(path.join(import.meta.dirname, `memories-${name}.txt`), "utf8");
    return text
      .split(/^=== /m)
      .slice(1)
      .map((block) => {
        const [head = "", ...rest] = block.split("\n");
        const [id = "", type = "", written = ""] = head.split(" ");
        const [body = "", labels = ""] = rest.join("\n").split(/^--$/m);
        return {
          id,
          type,
          written,
          text: `---\nname: ${id}\ntype: ${type}\n---\n\n${body}`,
          labels: labels
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => ({ label: line.split(" ")[0] as Label, text: line.slice(line.indexOf(" ") + 1) })),
        };
      });
  });
}

export async function measureCorpus(folder: string, memories: readonly Labelled[]): Promise<Figures> {
  const { root } = buildHistory(path.join(folder, "harbor"));
  const examination = await examine(
    { root, env: { PATH: process.env.PATH, HOME: folder } },
    // Real files are named for their type, too.
    memories.map(({ id, type, text, written }) => ({ file: `${type}_${id}.md`, text, written: new Date(written) })),
    {
      names: new Set(),
      today: TODAY.slice(0, 10),
      writtenAt: (nth) => new Date(memories[nth]?.written ?? TODAY).getTime() / 1000,
    },
  );
  return compare(memories, examination);
}

/** A verdict must be the labelled one; a problem without a label is a wrong one. */
function compare(memories: readonly Labelled[], examination: Examination): Figures {
  const figures: Figures = { claims: 0, precision: 0, recall: 0, kinds: {}, wrong: [], missed: [] };
  const count = (kind: string, what: "right" | "wrong" | "missed") => {
    figures.kinds[kind] ??= { right: 0, wrong: 0, missed: 0 };
    figures.kinds[kind][what]++;
  };
  for (const [i, { id, labels }] of memories.entries()) {
    figures.claims += labels.length;
    const findings = examination.memories[i]?.findings ?? [];
    const seen = new Set<string>();
    // Deadlines are shown on request only, and must be found all the same.
    const counted = findings.filter(
      (each) => isShown(each) || (each.claim.kind === "date" && each.order === "after" && isProblem(each.verdict)),
    );
    for (const { claim, verdict, evidence } of counted) {
      const label = labels.find(({ text }) => plain(text) === plain(claim.text));
      const isRight = label?.label === verdict;
      if (isRight) seen.add(plain(claim.text));
      else
        figures.wrong.push(
          `${id}: ${claim.kind} ${claim.text} is ${label?.label ?? "unlabelled"}, not ${verdict} (${evidence})`,
        );
      count(claim.kind, isRight ? "right" : "wrong");
    }
    for (const { label, text } of labels) {
      if (label === "true" || label === "not" || seen.has(plain(text))) continue;
      const found = findings.find(({ claim }) => plain(claim.text) === plain(text));
      figures.missed.push(
        `${id}: ${text} is ${label}, found ${found ? `${found.claim.kind} ${found.verdict} (${found.evidence})` : "nothing"}`,
      );
      count(found?.claim.kind ?? "none", "missed");
    }
  }
  const sum = (what: "right" | "wrong" | "missed") =>
    Object.values(figures.kinds).reduce((all, kind) => all + kind[what], 0);
  figures.precision = sum("right") / Math.max(1, sum("right") + sum("wrong"));
  figures.recall = sum("right") / Math.max(1, sum("right") + sum("missed"));
  return figures;
}

function plain(text: string): string {
  return text.replace(/[/\\]$/, "").replaceAll("\\", "/");
}
