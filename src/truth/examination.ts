/** Examines memories against a project: finds the claims, gathers the facts once, and gives a verdict for each. */

import { basename, join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import type { Git } from "../project/git.ts";
import { checkClaims } from "./checks.ts";
import { type Finding, isProblem } from "./claim.ts";
import { type FoundClaims, findClaims, isNamedForDay } from "./claims.ts";
import { type Evidence, SHOWN, weighFinding } from "./evidence.ts";
import { gatherFacts, startFacts } from "./facts.ts";

export interface Examined {
  file: string;
  text: string;
  /** When it was written, for days without a year. */
  written: Date;
  /** Covers all projects of the user, so only dates and links are checked. */
  isGeneral?: boolean;
}

/** A finding with what is known about it. */
export type Weighed = Finding & Evidence;

/** `holds`: there are claims and all of them hold. `unchecked`: nothing could be checked. */
export type MemoryVerdict = "holds" | "doubtful" | "unchecked";

export interface Examination {
  memories: { file: string; verdict: MemoryVerdict; findings: Weighed[]; silenced: FoundClaims["silenced"] }[];
  /** What could not be checked. */
  notes: string[];
}

interface ExamineOptions {
  names: ReadonlySet<string>;
  today: string;
  /** When a line of the nth memory was written, in seconds since 1970. */
  writtenAt?: ((nth: number, line: string) => number | null) | undefined;
  /** Changes before this, in seconds since 1970, are not looked for. */
  since?: number | undefined;
  /** Branches, tags and commits, too. */
  refs?: boolean | undefined;
  maxCommits?: number | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
}

export async function examine(git: Git, memories: readonly Examined[], options: ExamineOptions): Promise<Examination> {
  const start = startFacts(git, { maxCommits: options.maxCommits, since: options.since });
  const names = findProjectNames(git.root);
  const found: FoundClaims[] = [];
  for (const [i, { file, text, written, isGeneral }] of memories.entries()) {
    // Git waits until its output is read.
    if (i % 32 === 31) await new Promise((next) => setImmediate(next));
    const { claims, silenced } = findClaims(text, {
      ...{ root: git.root, names, written, isRecord: isNamedForDay(file), refs: options.refs === true },
    });
    const kept = isGeneral ? claims.filter(({ kind }) => kind === "date" || kind === "link") : claims;
    found.push({ claims: kept, silenced });
  }
  const all = found.flatMap(({ claims }) => claims);
  const facts = await gatherFacts(git, start, all, { ...options, memories: options.names });
  return {
    memories: memories.map(({ file, text }, i) => {
      const { claims, silenced } = found[i] as FoundClaims;
      const lines = text.split("\n");
      const findings = checkClaims(facts, claims).map((finding) => {
        const line = lines[finding.claim.line - 1] ?? "";
        return { ...finding, ...weighFinding(finding, options.writtenAt?.(i, line) ?? null) };
      });
      return { file, verdict: verdictOf(findings), findings, silenced };
    }),
    notes: facts.notes,
  };
}

function verdictOf(findings: readonly Weighed[]): MemoryVerdict {
  if (findings.some(isShown)) return "doubtful";
  const checked = findings.filter(({ claim }) => claim.kind !== "url");
  const isAll = checked.length > 0 && checked.every(({ verdict }) => verdict === "holds");
  // A date in the future does not make a memory true.
  return isAll && checked.some(({ claim }) => claim.kind !== "date" && claim.kind !== "link") ? "holds" : "unchecked";
}

/** Wrong, and sure enough to say so unasked. */
export function isShown({ verdict, confidence }: Weighed): boolean {
  return isProblem(verdict) && confidence >= SHOWN;
}

/** The folder's name, and that of the repository it was cloned from. */
function findProjectNames(root: string): string[] {
  let config = "";
  try {
    config = readRegular(join(root, ".git", "config"), { maxBytes: MAX_CONFIG_BYTES })?.toString("utf8") ?? "";
  } catch {
    // A linked worktree has a file there, so the folder's name is used.
  }
  const remote = /^\s*url\s*=\s*\S*?([^/:\s]+?)(?:\.git)?\/?\s*$/m.exec(config)?.[1];
  return [basename(root), ...(remote ? [remote] : [])];
}

const MAX_CONFIG_BYTES = 1 << 20;
