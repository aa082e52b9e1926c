/** The system prompt from named sections: the same bytes from turn to turn. */

import { type ClaudeSettings, SETTING_SOURCES, type SettingSource } from "../config.ts";
import type { SystemBlock } from "../model/ask.ts";
import {
  type Attribution,
  buildCommitSection,
  IDENTITY_SECTION,
  SUMMARIZE_TOOL_RESULTS_SECTION,
  TONE_SECTION,
  TOOLS_SECTION,
} from "../prompts/agent.ts";
import { neutraliseTags } from "../recall/neutral.ts";

export interface Section {
  name: string;
  /** Null or "" leaves it out. */
  build: () => string | null | Promise<string | null>;
}

export type SystemPrompt = ReturnType<typeof openSystemPrompt>;

export function openSystemPrompt(sections: readonly Section[]) {
  let kept: ReturnType<typeof buildParts> | null = null;
  /** In order, built once and kept until `clear`. Rejects when a section's `build` fails; then all is built again next time. */
  const parts = async () => {
    const building = kept ?? buildParts(sections);
    kept = building;
    try {
      return await building;
    } catch (error) {
      // After a `clear` meanwhile it is another one.
      if (kept === building) kept = null;
      throw error;
    }
  };
  return {
    parts,
    /** The same as it is sent. */
    async blocks(): Promise<SystemBlock[]> {
      const text = (await parts()).map((part) => part.text).join("\n\n");
      return text === "" ? [] : [{ text, cache: true }];
    },
    /** Builds the sections again: after clear and compact. */
    clear(): void {
      kept = null;
    },
  };
}

async function buildParts(sections: readonly Section[]) {
  const parts = sections.map(async ({ name, build }) => ({ name, text: (await build()) ?? "" }));
  return (await Promise.all(parts)).filter(({ text }) => text !== "");
}

/** The name of the memory section, by which `/context` recognises it. */
export const MEMORY_SECTION = "memory";

/** The agent's own sections; `memory` is what it is told about its memory, without the index, which is in the user context. */
export function agentSections(attribution: Attribution, memory: Section["build"]): Section[] {
  return [
    { name: "identity", build: () => IDENTITY_SECTION },
    { name: "tools", build: () => TOOLS_SECTION },
    { name: "tone", build: () => TONE_SECTION },
    { name: "commits", build: () => buildCommitSection(attribution) },
    { name: "result-notes", build: () => SUMMARIZE_TOOL_RESULTS_SECTION },
    { name: MEMORY_SECTION, build: memory },
  ];
}

/** A git trailer and a sentence. No address: no one could be written to there. */
export const DEFAULT_ATTRIBUTION: Readonly<Attribution> = {
  commit: "Assisted-by: memdir",
  pr: "Prepared with memdir.",
};

/** A few trailers; more would be a second message. */
const MAX_CHARS = 500;

/**
 * Whether commits and pull requests mention the agent, and in which words. For each of the two the strongest source that sets it
 * decides; an override that returns null means no attribution at all. Within one source the specific text wins over the older switch for both.
 */
export function findAttribution(
  settings: Readonly<Record<SettingSource, ClaudeSettings>>,
  override: (attribution: Attribution) => Attribution | null = (attribution) => attribution,
): Attribution {
  const wanted = override({ commit: findSuffix(settings, "commit"), pr: findSuffix(settings, "pr") });
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

/** A repository may set it, and it goes into the system prompt: no invisible characters, no tags, not long. "" means none. */
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
