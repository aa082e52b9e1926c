/** Words that others chose, such as a provider's complaint or a model's file name, before they go into a log or the ledger. */

import { findSecrets, redactSecrets } from "../text/secrets.ts";

/** Must not throw: what cannot be checked is not told. */
export async function mask(text: string): Promise<string> {
  try {
    return redactSecrets(text, await findSecrets(text));
  } catch {
    return "it failed, and why cannot be told: the check for secrets did not work; reinstall memdir";
  }
}

export async function maskAll(texts: readonly string[]): Promise<string[]> {
  return Promise.all(texts.map(mask));
}
