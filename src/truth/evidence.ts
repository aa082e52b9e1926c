/** What is known about a finding besides its verdict: what came first, the memory's line or the change; and how sure that makes it. */

import type { ClaimKind, Finding } from "./claim.ts";

/** When the change was made, seen from the memory's line; `with` by the same commit. */
export type Order = "after" | "with" | "before" | "unknown";

export interface Evidence {
  /** YYYY-MM-DD, as far as known: when the memory's line was written, and when the change was made. */
  written: string | null;
  changed: string | null;
  order: Order;
  /** From 0 to 1: how often findings like this one were right on real repositories (docs/truth.md). */
  confidence: number;
}

/** Findings below this are shown only on request. */
export const SHOWN = 0.6;

/** `writtenAt` in seconds since 1970. */
export function weighFinding(finding: Finding, writtenAt: number | null): Evidence {
  const { claim, by } = finding;
  const order = orderOf(finding, writtenAt);
  const factor = (claim.in === "log" ? 0.5 : 1) * (finding.isVague ? 0.5 : 1);
  const base = claim.declared ? 1 : baseOf(finding, order);
  return {
    written: writtenAt === null ? null : dayOf(writtenAt),
    changed: claim.day ?? (by ? by.day : null),
    order,
    confidence: Math.round(base * factor * 100) / 100,
  };
}

function orderOf({ claim, by, isUncommitted }: Finding, writtenAt: number | null): Order {
  if (writtenAt === null) return "unknown";
  // A day that was already past when the line was written is that of an event, and not a deadline.
  if (claim.kind === "date") return (claim.day ?? "") > dayOf(writtenAt) ? "after" : "before";
  if (!by) return isUncommitted ? "after" : "unknown";
  return by.time > writtenAt ? "after" : by.time === writtenAt ? "with" : "before";
}

const REFS: ReadonlySet<ClaimKind> = new Set(["branch", "tag", "commit"]);

/** Measured on labelled findings of real repositories. */
function baseOf({ claim, by, verdict, isUncommitted }: Finding, order: Order): number {
  if (REFS.has(claim.kind)) return 0.1;
  // A name in [[brackets]] is often a memory of another store, or one that is yet to be written.
  if (claim.kind === "link") return /\.md$/i.test(claim.text) ? 0.8 : 0.4;
  if (claim.kind === "date") return order === "after" ? 0.7 : 0.1;
  if (verdict === "changed" && claim.kind === "path") return 0.7;
  if (isUncommitted) return 0.9;
  if (!by) return 0.2;
  if (order === "after") return verdict === "built" ? 0.75 : 0.9;
  return 0.3;
}

/** "12 days after this was written", for people; null where there is nothing to say. */
export function describeOrder({ claim, order, written, changed }: Finding & Evidence): string | null {
  if (claim.kind === "date") return written === null ? null : `written on ${written}`;
  if (order === "with") return "by the commit that wrote this";
  if (written === null || changed === null) return null;
  if (order === "before") return `before this was written on ${written}`;
  return order === "after" ? `after this was written on ${written}` : null;
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
