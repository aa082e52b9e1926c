/** What only people write into a memory: rules that are enforced, pins, and, for what nobody said, the place of another memory. */

import { type Memory, trustOf } from "../store/store.ts";
import { isUntold } from "./extraction-origin.ts";

/** What a planned text claims beyond the memories that it is made of, and what it must not lose of them. */
export function findClaims(next: Memory, parts: readonly Memory[]): string[] {
  const problems: string[] = [];
  const enforced = new Set(parts.map(enforcedIn).filter((block) => block !== NONE));
  const claimed = enforcedIn(next);
  if (claimed !== NONE && !enforced.has(claimed))
    problems.push("only people write what is enforced: leave `enforce` as it is, or out of a new memory");
  if (enforced.size > (claimed === NONE ? 0 : 1))
    problems.push("what is enforced must stay: a text holds one `enforce`, so memories that differ in it stay apart");
  if (next.pinned && !parts.some(({ pinned }) => pinned)) problems.push("only people pin a memory: leave out `pinned`");
  const known = new Set(parts.flatMap(({ supersedes }) => supersedes));
  if (isUntold(trustOf(next.source)) && next.supersedes.some((name) => !known.has(name)))
    problems.push("what a tool or a document says takes nobody's place: leave out `supersedes`");
  return problems;
}

export function isEnforced(memory: Memory): boolean {
  return enforcedIn(memory) !== NONE;
}

const NONE = "[null,null]";

/** At the top level and under `metadata`, as it is read in both places. */
function enforcedIn({ metadata }: Memory): string {
  const nested = metadata.metadata as Record<string, unknown> | null | undefined;
  return JSON.stringify([metadata.enforce ?? null, (typeof nested === "object" && nested?.enforce) || null]);
}
