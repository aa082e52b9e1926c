/** The system prompt from named sections: the same bytes from turn to turn. */

import { type ClaudeSettings, SETTING_SOURCES, type SettingSource } from "../config.ts";
import type { SystemBlock } from "../model/ask.ts";
import {
  type Attribution,
  buildCommitSection,
  buildResultClearingSection,
  IDENTITY_SECTION,
  SUMMARIZE_TOOL_RESULTS_SECTION,
  TONE_SECTION,
  TOOLS_SECTION,
} from "../prompts/agent.ts";
import { neutraliseTags } from "../recall/neutral.ts";

type Built = string | null;

export interface Section {
  name: string;
  /** Null or "" leaves it out. */
  build: () => Built | Promise<Built>;
}

export type SystemPrompt = ReturnType<typeof openSystemPrompt>;

export function openSystemPrompt(sections: readonly Section[]) {
  let kept: ReturnType<typeof buildParts> | null = null;
  let last: Awaited<ReturnType<typeof buildParts>> = [];
  return {
    /** Built once and kept until `clear`. Rejects when a section's `build` fails; then all is built again next time. */
    async blocks(): Promise<SystemBlock[]> {
      const building = kept ?? buildParts(sections);
      kept = building;
      try {
        const parts = await building;
        last = parts;
        return parts.length === 0 ? [] : [{ text: parts.map(({ text }) => text).join("\n\n"), cache: true }];
      } catch (error) {
        // After a `clear` meanwhile it is another one.
        if (kept === building) kept = null;
        throw error;
      }
    },
    /** What the last blocks were made of, in order; empty before the first. */
    parts: () => last.map((part) => ({ ...part })),
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

interface AgentPrompt {
  /** What the agent is told about its memory, without the index, which is in the user context. */
  memory?: Section["build"];
  /** Without it nothing is said about commits. */
  attribution?: Attribution | null;
  /** How many of the newest tool results the host never clears; null when it clears none. */
  keptResults?: number | null;
  /** Whether the model should note what tools found in its answers. */
  noteResults?: boolean;
}

/** The name of the memory section, by which `/context` recognises it. */
export const MEMORY_SECTION = "memory";

/** The agent's own sections. */
export function agentSections(options: AgentPrompt = {}): Section[] {
  const { memory = () => null, attribution = null, keptResults = null, noteResults = false } = options;
  return [
    { name: "identity", build: () => IDENTITY_SECTION },
    { name: "tools", build: () => TOOLS_SECTION },
    { name: "tone", build: () => TONE_SECTION },
    { name: "commits", build: () => attribution && buildCommitSection(attribution) },
    { name: "result-clearing", build: () => (keptResults === null ? null : buildResultClearingSection(keptResults)) },
    { name: "result-notes", build: () => (noteResults ? SUMMARIZE_TOOL_RESULTS_SECTION : null) },
    { name: MEMORY_SECTION, build: memory },
  ];
}

export type { Attribution };

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
