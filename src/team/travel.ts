/** What may be shared with other people, and for what may not, why and how to allow it. */

import { MemdirError } from "../errors.ts";
import { type Memory, parseMemory, valuesOf } from "../store/store.ts";
import type { FieldValue } from "../text/frontmatter.ts";
import { findSecrets } from "../text/secrets.ts";

/**
 * Throws for a memory that stays where it is: why, and how to allow it. Never quotes a secret. `scope` is that of the directory it
 * is in. A rule of its own (an `enforce` block) does not matter: its readers decide what it does there.
 */
export function refuseTravel(file: string, text: string, scope: string): void {
  const memory = parseMemory(file, text);
  const secret = describeSecrets(findSecrets(text));
  const problem = findRefusal(memory, scope) ?? secret ?? findTypeProblem(memory);
  const code = problem === secret ? "secret" : "usage";
  if (problem !== null) throw new MemdirError(code, `${file} is not shared: ${problem.replace("NAME", file)}`);
}

/** Null for what may be shared, as far as its fields, its type and whom its words are about say: secrets are looked for elsewhere. */
export function findTypeProblem(memory: Memory): string | null {
  const refusal = findRefusal(memory, "");
  if (refusal !== null || readShare(memory) === "yes") return refusal;
  if (!memory.typeExplicit)
    return `it does not say what type it is: write \`type: project\` or \`type: reference\`, or ${ALLOW}`;
  if (memory.type === "project" || memory.type === "reference") return null;
  if (memory.type === "user") return `it is about the user and stays private; to share it anyway, ${ALLOW}`;
  return findPersonalProblem(memory);
}

const ALLOW = "write `share: true` into its frontmatter (`memdir edit NAME`)";

/** What no field can lift. */
function findRefusal(memory: Memory, scope: string): string | null {
  if (memory.broken) return `it cannot be read safely (${memory.problems[0]}): fix it by hand first`;
  const share = readShare(memory);
  if (share === "no")
    return "its frontmatter says `share: false`; take that line out, or make it `share: true` (`memdir edit NAME`)";
  if (share === "unclear") return "its frontmatter has a `share:` that is neither true nor false: write one of them";
  if (scope.startsWith("agent:"))
    return `it belongs to one agent (${scope}) and its own work; save it for the project first, with \`memdir save\``;
  return null;
}

/** The rule and the line of the first one, never a value; null when there is none. */
export function describeSecrets([first, ...more]: readonly { rule: string; line: number }[]): string | null {
  if (!first) return null;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `it contains what looks like a secret: ${first.rule} in line ${first.line}${others}; remove it (\`memdir edit NAME\`)`;
}

/**
 * A correction is shared only when it is about the team's ways and not about one person. A text that mentions both may mean
 * either, so it stays: a word too many costs a line in the frontmatter, a private remark in public cannot be undone.
 */
function findPersonalProblem(memory: Memory): string | null {
  const words = [memory.name, memory.description, ...memory.when, memory.body].join("\n").replace(CODE, " ");
  const person = PERSON.exec(words)?.[0];
  if (person !== undefined)
    return `it is feedback and mentions one person ("${person.replace(/\s+/g, " ")}"), so it may be a personal preference; if it is a convention of the project, ${ALLOW}`;
  if (TEAM.test(words)) return null;
  return `it is feedback, and nothing in it says that it is a convention of the project ("we", "this repository", "convention", "CI"); if it is one, ${ALLOW}`;
}

/** Names in code say nothing about the speaker. */
const CODE = /^(```|~~~)[\s\S]*?^\1.*$|`[^`\n]+`/gm;

/** Capital letters matter: CI is not a word, and `I` is not a letter of one. */
const TEAM =
  /\b([Ww]e|[Oo]urs?|[Tt]he (team|project|repo|repository|code ?base)|(THIS|[Tt]his) (team|project|repo|repository|code ?base)|[Cc]onventions?|CI|[Cc]ontribut(ors?|ing)|[Ee]very(one|body) (here|on)|[Cc]ode reviews?|[Rr]eviewers?|[Pp]ull requests?|PRs?)\b/;

const PERSON =
  /(?<![\w/])(I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)(?![\w/])|\b([Tt]he user|[Uu]ser (prefers|wants|likes|dislikes|asked|said)|[Pp]refers?|[Hh]is|[Hh]er|[Hh]e|[Ss]he)\b/;

export type Share = "yes" | "no" | "unclear" | "unsaid";

export function readShare({ metadata }: Memory): Share {
  const said = valuesOf(metadata, "share").map(readSwitch);
  // Both together mean no.
  if (said.includes("no")) return "no";
  return said[0] ?? "unsaid";
}

function readSwitch(value: FieldValue): Share {
  const word = typeof value === "string" ? value.replace(/\s+#.*$/, "").trim() : "";
  if (/^(true|yes)$/i.test(word)) return "yes";
  return /^(false|no)$/i.test(word) ? "no" : "unclear";
}
