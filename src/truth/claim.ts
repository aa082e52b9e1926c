/** A claim: something in a memory that can be checked; the words to look for in the code; and the finding. */

import type { Commit } from "./history.ts";
import type { Sentence } from "./past-work.ts";

export const CLAIM_KINDS = [
  "path",
  "symbol",
  "env",
  "constant",
  "flag",
  "script",
  "package",
  "branch",
  "tag",
  "commit",
  "date",
  "url",
  "link",
  "value",
] as const;

export type ClaimKind = (typeof CLAIM_KINDS)[number];

export interface Claim {
  kind: ClaimKind;
  /** In the form that is checked: without quotes, line numbers and `./`. */
  text: string;
  /** In the memory's file, from 1. */
  line: number;
  /** The text's offset in the file; -1 if it does not occur in this form. */
  at: number;
  /** Further offsets at which it is claimed. */
  more?: number[];
  /** It may be something else: it counts only if it is or was in the repository. */
  loose: boolean;
  /** Written in `claims:`: then no proof is needed that it ever held. */
  declared: boolean;
  /** A symbol that is said to be in this file; a line that is said to be in it. */
  file?: string;
  lineNumber?: number;
  /** The program whose script it is: `npm`, `make`. */
  program?: string;
  /** The last day on which it holds, YYYY-MM-DD. */
  day?: string;
  /** It stands in a record of past work, or is said to be planned. */
  in?: "record" | "plan";
  /** What tells that it is a record. */
  record?: string;
  /** The sentence that claims it; none where it is declared. */
  place?: Sentence;
  /** Where else it is claimed of today. */
  again?: { line: number; place: Sentence }[];
  /** What a setting or constant is said to be: `25`, `"eu-west-1"`. */
  value?: string;
}

/** `built`: said to be planned, and there by now. */
export type Verdict = "holds" | "moved" | "gone" | "changed" | "expired" | "built" | "unknown";

export interface Finding {
  claim: Claim;
  verdict: Verdict;
  /** The evidence, in words. */
  evidence: string;
  /** Where it is now, for `moved`. */
  to?: string;
  /** The replacement for the claim's text, if it is certain. */
  fix?: string;
  /** Files that the verdict was read from. */
  files?: string[];
  /** The commit that made it so. */
  by?: Commit;
  /** Removed in the working tree, and not committed yet. */
  isUncommitted?: true;
  /** It may be another thing of that name. */
  isVague?: true;
}

export function isProblem(verdict: Verdict): boolean {
  return verdict !== "holds" && verdict !== "unknown";
}

/** Findings below this confidence are shown only on request. */
export const SHOWN = 0.6;

/** Wrong, and sure enough to say so unasked. */
export function isShown({ verdict, confidence }: Pick<Finding, "verdict"> & { confidence: number }): boolean {
  return isProblem(verdict) && confidence >= SHOWN;
}

export function wordsOf({ kind, text }: Claim): string[] {
  if (kind === "symbol") return partsOf(text);
  if (kind === "env" || kind === "constant" || kind === "package" || kind === "value") return [text];
  if (kind === "flag") return flagForms(text);
  return [];
}

/** The name itself, and what it belongs to. */
export function partsOf(symbol: string): string[] {
  return symbol.split(/\.|::|#|->/).slice(-2);
}

/** `--dry-run` is `dry_run` or `dryRun` where options are fields. */
export function flagForms(flag: string): string[] {
  const name = flag.replace(/^--/, "");
  const snake = name.replaceAll("-", "_");
  const camel = name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return [...new Set([name, snake, camel])];
}
