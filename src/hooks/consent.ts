/**
 * Which rules of others are in force: those that the user has accepted. Kept by content, so that a rule that changes is asked about
 * again, and in the user's own settings, which no repository writes.
 */

import type { Config } from "../config.ts";
import { type Project, trustKey } from "../project/locate.ts";
import { type Enforced, meansEveryTool } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import type { Rule } from "./rules.ts";

/** `void`: it is about every tool, which nobody may forbid to others, accepted or not. */
export type Consent = "own" | "accepted" | "waiting" | "refused" | "void";

export const IN_FORCE: ReadonlySet<Consent> = new Set<Consent>(["own", "accepted"]);

export type Kept = Pick<Config, "acceptedRules" | "refusedRules">;

/** Must be quick: every call of a tool asks. */
export function openConsent(config: Kept, project: Project): (rule: Rule) => Consent {
  const accepted = listOf(config.acceptedRules, project);
  const refused = listOf(config.refusedRules, project);
  return (rule) => {
    if (!rule.isShared) return "own";
    if (meansEveryTool(rule.tools)) return "void";
    const content = contentOf(rule);
    return accepted.includes(content) ? "accepted" : refused.includes(content) ? "refused" : "waiting";
  };
}

/** All that it matches and says; not its file, which may be renamed. Kept as it is: a hash would take longer to load than to compare. */
export function contentOf({ name, tools, pattern, paths, message }: Enforced): string {
  return JSON.stringify([name, tools, pattern, paths, message]);
}

/** For people to type. */
export function idOf(rule: Enforced): string {
  return sha256(contentOf(rule));
}

function listOf(map: Readonly<Record<string, readonly string[]>>, project: Project): readonly string[] {
  const key = trustKey(project);
  return Object.hasOwn(map, key) ? (map[key] ?? []) : [];
}
