/** Examines memories against a project: finds the claims, gathers the facts once, and gives a verdict for each. */

import { basename, join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import type { Git } from "../project/git.ts";
import { checkClaims, wasThere } from "./checks.ts";
import { type Claim, type Finding, isProblem, isShown, SHOWN } from "./claim.ts";
import { type FoundClaims, findClaims } from "./claims.ts";
import { type FactOptions, type Facts, gatherFacts, startFacts } from "./facts.ts";
import { dayOf, type HistoryLimits, nameOf } from "./history.ts";
import { openPastWork } from "./past-work.ts";
import { recordByName } from "./records.ts";

export interface Examined {
  file: string;
  text: string;
  /** When it was written, for days without a year. */
  written: Date;
  /** Covers all projects of the user, so only dates and links are checked. */
  isGeneral?: boolean;
}

/** When the change was made, seen from the memory's line; `with` by the same commit. */
export type Order = "after" | "with" | "before" | "unknown";

/** A finding with what is known about it. */
export type Weighed = Finding & ReturnType<typeof weighFinding>;

/** `holds`: there are claims and all of them hold. `unchecked`: nothing could be checked. */
export type MemoryVerdict = "holds" | "doubtful" | "unchecked";

export type Examination = Awaited<ReturnType<typeof examine>>;

interface ExamineOptions extends Omit<FactOptions, "memories">, HistoryLimits {
  names: ReadonlySet<string>;
  /** When a line of the nth memory was written, in seconds since 1970. */
  writtenAt?: ((nth: number, line: string) => number | null) | undefined;
}

export async function examine(git: Git, memories: readonly Examined[], options: ExamineOptions) {
  const start = startFacts(git, options);
  const names = findProjectNames(git.root);
  const found: FoundClaims[] = [];
  for (const [i, { file, text, written, isGeneral }] of memories.entries()) {
    // Git waits until its output is read.
    if (i % 32 === 31) await new Promise((next) => setImmediate(next));
    const { claims, silenced } = findClaims(text, { root: git.root, names, written, record: recordByName(file) });
    const kept = isGeneral ? claims.filter(({ kind }) => kind === "date" || kind === "link") : claims;
    found.push({ claims: kept, silenced });
  }
  const all = found.flatMap(({ claims }) => claims);
  const readPlace = await openPastWork();
  const facts = await gatherFacts(git, start, all, { ...options, memories: options.names });
  return {
    memories: memories.map(({ file, text }, i) => {
      const { claims, silenced } = found[i] as FoundClaims;
      const lines = text.split("\n");
      const timeOf = (line = "") => options.writtenAt?.(i, line) ?? null;
      const judge = (finding: Finding): Weighed => {
        const time = timeOf(lines[finding.claim.line - 1]);
        const order = orderOf(finding, time);
        const doubts = isProblem(finding.verdict) ? findDoubts(facts, finding, time) : [];
        const later = order === "after" ? findLater(facts, finding, lines, timeOf) : null;
        if (later !== null) doubts.push(`line ${later} names it as well, and was written since`);
        const weigh = () => ({ ...finding, ...weighFinding(finding, time, order, doubts) });
        const { place, kind, again = [] } = finding.claim;
        // Asked last, and only of what would be shown: it takes milliseconds for each sentence. A dead link is dead in a record, too.
        if (!place || kind === "link" || !isShown(weigh())) return weigh();
        const isBrief = time !== null && wasBrief(facts, finding, time);
        const score = readPlace(place, file);
        if (score === null ? !isBrief : score >= Math.max(barOf(facts, finding), isBrief ? BARS.brief : -1))
          return weigh();
        // A story may name first what is said of today further down.
        for (const other of again) {
          const there = judge({ ...finding, claim: { ...finding.claim, ...other, again: [] } });
          if (isShown(there)) return there;
        }
        doubts.push(isBrief ? "it was not there before this was written" : "it reads like a record of past work");
        return weigh();
      };
      const findings = checkClaims(facts, claims).map(judge);
      return { file, verdict: verdictOf(findings), findings, silenced };
    }),
    /** What could not be checked. */
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

/** Below this score the line of such a finding is taken for a record. Chosen on labelled findings of real repositories: docs/truth.md. */
const BARS = { moved: -0.5, path: -0.35, name: -0.15, lostName: 0, brief: -0.1 };

/** A path says what is meant; a name may be part of a story, and all the more where the whole file that defined it is gone. */
function barOf({ tree, history }: Facts, { claim, verdict, files: [file = ""] = [] }: Finding): number {
  if (verdict === "moved") return BARS.moved;
  if (!NAMES.has(claim.kind)) return BARS.path;
  return tree.files.has(file) || history.events.get(file)?.to ? BARS.name : BARS.lostName;
}

/** What came with the line and went on the same day was often a step of the work that the line is about. */
function wasBrief(facts: Facts, finding: Finding, time: number): boolean {
  const { by } = finding;
  return by !== undefined && dayOf(by.time) === dayOf(time) && !wasThere(facts, finding, time - 1);
}

/** What makes it likely that nothing has to be done about it. */
function findDoubts(facts: Facts, finding: Finding, time: number | null): string[] {
  const { claim, isVague, verdict, files: [file] = [] } = finding;
  const doubts: string[] = [];
  if (claim.record !== undefined) doubts.push(`a record of past work: ${claim.record}`);
  if (isVague) doubts.push("something else may be meant");
  if (time !== null && !wasThere(facts, finding, time)) doubts.push("it was not there when this was written");
  // A line number that was wrong from the start says nothing of what changed.
  const isCited = verdict === "changed" && claim.kind === "path" && time !== null;
  if (isCited && !facts.history.changes.some(({ path, commit }) => path === file && commit.time > time))
    doubts.push("the file has not changed since this was written");
  return doubts;
}

/** The line, from 1, that names the thing and was written with or after the change: whoever wrote it knew. */
function findLater(
  { tree }: Facts,
  { claim, by }: Finding,
  lines: readonly string[],
  timeOf: (line: string) => number | null,
): number | null {
  if (!by) return null;
  // By its bare name, too, if no other file has it.
  const last = claim.kind === "path" ? nameOf(claim.text) : "";
  const text = last === "" || tree.byName.has(last) ? claim.text : last;
  const name = new RegExp(`(?<!\\w)${text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}(?!\\w)`);
  const at = lines.findIndex((line, i) => i + 1 !== claim.line && name.test(line) && (timeOf(line) ?? 0) >= by.time);
  return at < 0 ? null : at + 1;
}

/** What came first, the memory's line or the change; and how sure that makes a finding. `writtenAt` in seconds since 1970. */
function weighFinding(finding: Finding, writtenAt: number | null, order: Order, doubts: readonly string[]) {
  const { claim, by } = finding;
  const written = writtenAt === null ? null : dayOf(writtenAt);
  const changed = claim.day ?? (by ? dayOf(by.time) : null);
  const base = claim.declared ? 1 : baseOf(finding, order, changed === written);
  const when = writtenAt === null ? null : describeOrder(finding, order, writtenAt);
  return {
    /** YYYY-MM-DD, as far as known: when the memory's line was written, and when the change was made. */
    ...{ written, changed, order },
    /** "after this was written on 2026-08-11", and what speaks against it; null where there is nothing to say. */
    when: [...(when === null ? [] : [when]), ...doubts].join("; ") || null,
    /** From 0 to 1: how often findings like this one were right on real repositories (docs/truth.md). */
    confidence: Math.round(base * 0.5 ** doubts.length * 100) / 100,
  };
}

function orderOf({ claim, by, isUncommitted }: Finding, writtenAt: number | null): Order {
  if (writtenAt === null) return "unknown";
  // A day that was already past when the line was written is that of an event, and not a deadline.
  if (claim.kind === "date") return (claim.day ?? "") > dayOf(writtenAt) ? "after" : "before";
  if (!by) return isUncommitted ? "after" : "unknown";
  return by.time > writtenAt ? "after" : by.time === writtenAt ? "with" : "before";
}

const NAMES: ReadonlySet<Claim["kind"]> = new Set(["symbol", "constant"]);

/** Measured on labelled findings of real repositories. */
function baseOf({ claim, by, verdict, isUncommitted }: Finding, order: Order, isSameDay: boolean): number {
  // A name in [[brackets]] is often a memory of another store, or one that is yet to be written.
  if (claim.kind === "link") return /\.md$/i.test(claim.text) ? 0.8 : 0.4;
  // A plan's day passes, and the plan stays as it was: 3 of 16 called for a change.
  if (claim.kind === "date") return order === "after" ? 0.5 : 0.1;
  if (verdict === "changed" && claim.kind === "path") return 0.7;
  if (isUncommitted) return 0.9;
  if (!by) return 0.2;
  // What is written during the work often speaks of how it was before, or will be after: 27 of 52 were right.
  if (order === "after" && isSameDay) return SHOWN;
  if (order === "after") return verdict === "built" || NAMES.has(claim.kind) ? 0.75 : 0.9;
  return 0.3;
}

function describeOrder({ claim, by }: Finding, order: Order, writtenAt: number): string | null {
  const written = dayOf(writtenAt);
  if (claim.kind === "date") return `written on ${written}`;
  if (order === "with") return "by the commit that wrote this";
  if (!by || order === "unknown") return null;
  if (dayOf(by.time) !== written) return `${order} this was written on ${written}`;
  // Midnight is a day without a time.
  return writtenAt % DAY === 0
    ? "on the day this was written"
    : `${spanOf(by.time - writtenAt)} ${order} this was written`;
}

const DAY = 86_400;

/** "40 minutes", "3 hours" */
function spanOf(seconds: number): string {
  const minutes = Math.max(1, Math.round(Math.abs(seconds) / 60));
  const [count, unit] = minutes < 90 ? [minutes, "minute"] : [Math.round(minutes / 60), "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The folder's name, and that of the repository it was cloned from. */
function findProjectNames(root: string): string[] {
  // A linked worktree has a file there, so the folder's name is used.
  const config = attempt(() => readRegularText(join(root, ".git", "config"), MAX_CONFIG_BYTES), null) ?? "";
  const remote = /^\s*url\s*=\s*\S*?([^/:\s]+?)(?:\.git)?\/?\s*$/m.exec(config)?.[1];
  return [basename(root), ...(remote ? [remote] : [])];
}

const MAX_CONFIG_BYTES = 1 << 20;
