/** Finds credentials in a text, by the rules of secretlint and our own, and takes them out. */

import type { SecretLintRuleContext, SecretLintRuleCreator, SecretLintSourceCode } from "@secretlint/types";
import { MemdirError } from "../errors.ts";
import { findByOwnRules, GENERIC_RULES, isFiller, type SecretSpan } from "./secret-rules.ts";

/** Offsets into the text; `line` is 1-based. Never holds the value. */
export interface SecretFinding {
  rule: string;
  line: number;
  start: number;
  end: number;
}

/** Loads secretlint's rules; a parameter so that a test can make it fail. */
type SecretlintLoader = () => Promise<{ rules: readonly unknown[] }>;

/**
 * Every credential found in text, sorted by position, overlapping findings merged.
 * Throws when secretlint cannot be loaded or fails: half a check must not pass for a whole one.
 */
export async function findSecrets(text: string, load: SecretlintLoader = loadSecretlint): Promise<SecretFinding[]> {
  const own = findByOwnRules(text);
  if (!needsSecretlint(text)) return toFindings(text, own);
  try {
    return toFindings(text, [...own, ...(await runSecretlint(text, await load()))]);
  } catch (error) {
    // The cause may quote the text, so only its kind is told.
    const kind = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.name) : typeof error;
    throw new MemdirError(
      "disk",
      `cannot check the text for secrets: the rules of secretlint did not load or failed (${kind}); reinstall memdir`,
      { details: { findings: toFindings(text, own) } },
    );
  }
}

/** The text with every finding replaced by `[redacted: <rule>]`. */
export function redactSecrets(text: string, findings: readonly SecretFinding[]): string {
  let redacted = "";
  let from = 0;
  for (const finding of mergeSpans(findings)) {
    redacted += `${text.slice(from, finding.start)}[redacted: ${finding.rule}]`;
    from = finding.end;
  }
  return redacted + text.slice(from);
}

/**
 * Whether secretlint's rules could match at all; if not, loading them is saved. The shortest format they know is an AWS key
 * id of 20 characters; Slack's tokens have no least length.
 */
export function needsSecretlint(text: string): boolean {
  return /\S{20}|xox|xapp-/.test(text);
}

function loadSecretlint(): ReturnType<SecretlintLoader> {
  return import("@secretlint/secretlint-rule-preset-recommend") as unknown as ReturnType<SecretlintLoader>;
}

const RULE_PREFIX = "@secretlint/secretlint-rule-";

const RULE_NAMES: Record<string, string> = {
  "1password": "1password-token",
  anthropic: "anthropic-key",
  aws: "aws-access-key-id",
  databricks: "databricks-token",
  docker: "docker-token",
  figma: "figma-token",
  github: "github-token",
  gitlab: "gitlab-token",
  grafana: "grafana-token",
  groq: "groq-key",
  "hashicorp-vault": "vault-token",
  huggingface: "huggingface-token",
  linear: "linear-token",
  notion: "notion-token",
  npm: "npm-token",
  openai: "openai-key",
  privatekey: "private-key",
  sendgrid: "sendgrid-key",
  shopify: "shopify-token",
  slack: "slack-token",
  vercel: "vercel-token",
};

// filter-comments lets a text switch the check off (`secretlint-disable`); gcp looks at .json and .p12 files only; the
// other two report whole URLs, passwords like `postgres:postgres` included. Our own rules do the latter three.
const LEFT_OUT: ReadonlySet<string> = new Set(["filter-comments", "gcp", "basicauth", "database-connection-string"]);

// An account's number is no credential. The range of the secret key begins at its name and so ends before the value does:
// our own rule reports it instead.
const IGNORED_MESSAGES: ReadonlySet<string> = new Set(["AWSAccountID", "AWSSecretAccessKey"]);

/**
 * Runs the rules without @secretlint/core: its profiler keeps 31 KB of each call for ever and searches through all of it in the
 * next, so that a save took 94 ms after 3,000 of them. Here a rule's message is reduced to its id, as its text holds the secret.
 */
async function runSecretlint(text: string, { rules }: Awaited<ReturnType<SecretlintLoader>>): Promise<SecretSpan[]> {
  if (rules.length === 0) throw new Error("no rules");
  const spans: SecretSpan[] = [];
  for (const creator of rules as readonly SecretLintRuleCreator[]) {
    const name = creator.meta.id.slice(RULE_PREFIX.length);
    if (LEFT_OUT.has(name)) continue;
    const context = {
      sharedOptions: {},
      createTranslator: () => (messageId: string) => ({ messageId }),
      ignore() {},
      report({ message, range: [start, end] }: { message: { messageId: string }; range: readonly [number, number] }) {
        if (IGNORED_MESSAGES.has(message.messageId) || isFiller(text.slice(start, end))) return;
        spans.push({ rule: RULE_NAMES[name] ?? name, start, end });
      },
    } as unknown as SecretLintRuleContext;
    await creator.create(context, { enableIDScanRule: true }).file?.(sourceOf(text));
  }
  return spans;
}

function sourceOf(content: string): SecretLintSourceCode {
  // A path that no rule takes for a special file; nothing is read from it.
  return { content, filePath: "memory.md", ext: ".md", contentType: "text" } as unknown as SecretLintSourceCode;
}

function toFindings(text: string, spans: readonly SecretSpan[]): SecretFinding[] {
  let line = 1;
  let from = 0;
  return mergeSpans(spans).map(({ rule, start, end }) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < start; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return { rule, line, start, end };
  });
}

/** Sorted, overlapping spans as one. The rule that names a format wins over one that only knows what the value was called. */
function mergeSpans(spans: readonly SecretSpan[]): SecretSpan[] {
  const merged: SecretSpan[] = [];
  for (const next of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (!last || next.start >= last.end) {
      merged.push({ ...next });
      continue;
    }
    last.end = Math.max(last.end, next.end);
    if (GENERIC_RULES.has(last.rule)) last.rule = next.rule;
  }
  return merged;
}
