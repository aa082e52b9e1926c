/** Memories checked against the code, as a model is told of it. */

import type { Memdir } from "../memdir.ts";
import { neutraliseLine } from "../recall/neutral.ts";
import { ageInWords } from "../store/store.ts";

interface VerifyProblem {
  file: string;
  /** Of the memory's file, from 1. */
  line: number;
  claim: string;
  kind: "path" | "symbol" | "flag" | "command" | "url" | "date";
  verdict: "gone" | "moved" | "changed" | "expired";
  evidence: string;
}

interface Verification {
  /** How many memories were looked at. */
  checked: number;
  problems: VerifyProblem[];
  /** Memories that are old enough to be doubted, whatever was found. */
  aged: { file: string; ageDays: number }[];
}

/** Throws when the name is no memory's. */
export type Verify = (memdir: Memdir, name: string | undefined, signal: AbortSignal) => Promise<Verification>;

export const VERIFICATION_SCHEMA = {
  checked: { type: "integer", minimum: 0 },
  problems: {
    type: "array",
    items: {
      type: "object",
      properties: {
        file: { type: "string" },
        line: { type: "integer" },
        claim: { type: "string" },
        kind: { type: "string" },
        verdict: { type: "string" },
        evidence: { type: "string" },
      },
    },
  },
  aged: {
    type: "array",
    items: { type: "object", properties: { file: { type: "string" }, ageDays: { type: "integer" } } },
  },
};

/** A model reads so many at most; the rest is counted. */
const MAX_SHOWN = 50;
const MAX_AGED_SHOWN = 10;

/** What is found is kept, so that recall can show it; nothing is stamped for a model that asks. */
export const verifyByLooking: Verify = async (memdir, name, signal) => {
  const { checked, problems, memories } = await memdir.verify(name, { stamp: "none", signal });
  const looked = new Set(memories.map(({ file, scope }) => `${scope} ${file}`));
  const aged = (await memdir.list()).filter(
    ({ age, file, scope }) => (age === "stale" || age === "old") && looked.has(`${scope} ${file}`),
  );
  return {
    checked,
    problems: problems.map(({ file, line, claim, kind, verdict, evidence }) => ({
      ...{ line, kind, verdict },
      file: neutraliseLine(file),
      claim: neutraliseLine(claim),
      evidence: neutraliseLine(evidence),
    })),
    aged: aged.map(({ file, ageDays }) => ({ file: neutraliseLine(file), ageDays })),
  };
};

export function formatVerification({ checked, problems, aged }: Verification): string {
  const doubts = `${problems.length} doubtful ${problems.length === 1 ? "claim" : "claims"}`;
  const lines = [`${checked} ${checked === 1 ? "memory" : "memories"} checked, ${doubts}`];
  for (const { file, line, claim, evidence } of problems.slice(0, MAX_SHOWN)) {
    lines.push(`- ${file}:${line} \`${claim}\`: ${evidence}`);
  }
  if (problems.length > MAX_SHOWN) lines.push(`- and ${problems.length - MAX_SHOWN} more`);
  if (aged.length > 0) {
    const oldest = [...aged].sort((a, b) => b.ageDays - a.ageDays).slice(0, MAX_AGED_SHOWN);
    const names = oldest.map(({ file, ageDays }) => `${file} (${ageInWords(ageDays)})`);
    lines.push(`Old enough to be doubted (${aged.length}): ${names.join(", ")}`);
  }
  lines.push(
    "Only what can be looked up in the code and in git was checked. Read the code before you act on a memory.",
  );
  return lines.join("\n");
}
