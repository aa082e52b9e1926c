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

/** Most people have decided nothing, and pay for no hash. */
export function openConsent(config: Kept, project: Project): (rule: Rule) => Consent {
  const accepted = listOf(config.acceptedRules, project);
  const refused = listOf(config.refusedRules, project);
  return (rule) => {
    if (!rule.isShared) return "own";
    if (meansEveryTool(rule.tools)) return "void";
    const id = accepted.length + refused.length > 0 ? idOf(rule) : "";
    return accepted.includes(id) ? "accepted" : refused.includes(id) ? "refused" : "waiting";
  };
}

/** Of all that it matches and says; not of its file, which may be renamed. */
export function idOf({ name, tools, pattern, paths, message }: Enforced): string {
  return sha256(JSON.stringify([name, tools, pattern, paths, message]));
}

function listOf(map: Readonly<Record<string, readonly string[]>>, project: Project): readonly string[] {
  const key = trustKey(project);
  return Object.hasOwn(map, key) ? (map[key] ?? []) : [];
}
