/** The words that decide about a claim, as they stand in code. */

import type { Claim } from "./claim.ts";

export function wordsOf({ kind, text }: Claim): string[] {
  if (kind === "symbol") return partsOf(text);
  if (kind === "env" || kind === "package") return [text];
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
