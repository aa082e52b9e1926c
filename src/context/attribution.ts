/** Whether commits and pull requests say that an agent took part, and in which words: from settings, open to an override. */

import type { Attribution } from "../prompts/commits.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { type ClaudeSettings, SETTING_SOURCES, type SettingSource } from "../settings.ts";

export type { Attribution };

/** A trailer as git knows them, and a sentence. No address: there is nobody to write to. */
export const DEFAULT_ATTRIBUTION: Readonly<Attribution> = {
  commit: "Assisted-by: memdir",
  pr: "Prepared with memdir.",
};

/** A few trailers; more would be a second message. */
const MAX_CHARS = 500;

/** Null says: nothing at all. */
type AttributionOverride = (attribution: Attribution) => Attribution | null;

/**
 * For each of the two the strongest source decides that says anything of it. Within one source the text of its own kind
 * goes before the older switch for both.
 */
export function findAttribution(
  settings: Readonly<Record<SettingSource, ClaudeSettings>>,
  override: AttributionOverride = (attribution) => attribution,
): Attribution {
  const found = { commit: findSuffix(settings, "commit"), pr: findSuffix(settings, "pr") };
  const wanted = override(found);
  return { commit: clean(wanted?.commit ?? null), pr: clean(wanted?.pr ?? null) };
}

function findSuffix(settings: Readonly<Record<SettingSource, ClaudeSettings>>, kind: keyof Attribution): string | null {
  for (const source of SETTING_SOURCES) {
    const { attribution, includeCoAuthoredBy } = settings[source];
    const text = attribution?.[kind];
    if (text !== undefined) return text;
    if (includeCoAuthoredBy !== undefined) return includeCoAuthoredBy ? DEFAULT_ATTRIBUTION[kind] : null;
  }
  return DEFAULT_ATTRIBUTION[kind];
}

/** A repository may set it, and it goes into the system prompt: nothing invisible, no tags, not long. "" is none. */
function clean(text: string | null): string | null {
  if (text === null) return null;
  const lines = neutraliseTags(text.slice(0, 2 * MAX_CHARS)).replace(/[^\S\n]+$/gm, "");
  const cut = lines
    .trim()
    .slice(0, MAX_CHARS)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd();
  return cut === "" ? null : cut;
}
