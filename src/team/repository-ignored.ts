/** Whether git ignores the team's folder: then nobody else ever sees what is in it. */

import { type Git, runGit } from "../project/git.ts";

export interface IgnoreWarning {
  /** Where the rule stands and how it reads: `.gitignore:3: .claude/`. */
  rule: string;
  message: string;
}

/** What lies in the folder, and what lies beside it. */
const INSIDE = ".claude/memory/x.md";
const INDEX = ".claude/memory/MEMORY.md";
const BESIDE = ".claude/x.json";

/** The exact rule and how to lift it, or null. Never throws. */
export async function findIgnoreWarning({ root, env }: Git): Promise<IgnoreWarning | null> {
  const { output } = await runGit({ root, env }, ["check-ignore", "-v", "--no-index", "--", INSIDE, INDEX, BESIDE]);
  const rules = parseRules(output.toString("utf8"));
  const found = rules.get(INSIDE) ?? rules.get(INDEX);
  if (!found) return null;
  const rule = `${found.source}:${found.line}: ${found.pattern}`;
  return {
    rule,
    message: `git ignores .claude/memory (${rule}), so that nobody else sees it; ${remedy(found, rules)}`,
  };
}

interface Rule {
  source: string;
  line: string;
  pattern: string;
}

/** Lines of `source:line:pattern<TAB>path`. A pattern that begins with `!` says that the path is not ignored. */
function parseRules(output: string): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const text of output.split("\n")) {
    const [, source, line, pattern, path] = /^(.*?):(\d+):(.*)\t([^\t]*)$/.exec(text) ?? [];
    if (source === undefined || line === undefined || pattern === undefined || path === undefined) continue;
    if (!pattern.startsWith("!")) rules.set(path, { source, line, pattern });
  }
  return rules;
}

/**
 * A file cannot be taken back in while a folder above it is out: so that folder comes in, all else in it goes out, and
 * the memories come in.
 */
function remedy({ source, line }: Rule, rules: ReadonlyMap<string, Rule>): string {
  if (source.includes(".claude/")) return `take line ${line} out of ${source}`;
  const whole = rules.has(BESIDE) ? ["!/.claude/", "/.claude/*"] : [];
  const lines = [...whole, "!/.claude/memory/", "!/.claude/memory/**"].map((text) => `\`${text}\``);
  return `add these lines at the end of .gitignore: ${lines.join(", ")}`;
}
