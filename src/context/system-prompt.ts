/** The system prompt from named sections: a prefix that stays the same from turn to turn, and what changes after it. */

import { type ClaudeSettings, SETTING_SOURCES, type SettingSource } from "../config.ts";
import type { SystemBlock } from "../model/ask.ts";
import {
  type AgentTools,
  type Attribution,
  buildCommitSection,
  buildResultClearingSection,
  buildToolsSection,
  IDENTITY_SECTION,
  SUMMARIZE_TOOL_RESULTS_SECTION,
  TONE_SECTION,
} from "../prompts/agent.ts";
import { neutraliseTags } from "../recall/neutral.ts";

type Built = string | null;

export interface Section {
  name: string;
  /** Null or "" leaves it out. */
  build: () => Built | Promise<Built>;
  /** True, the default, is built once and kept until `clear`; false is built for every request. */
  stable?: boolean;
}

export interface SystemPrompt {
  /** Rejects when a section's `build` fails; that section is built again next time. */
  blocks(): Promise<SystemBlock[]>;
  /** What the last blocks were made of, in order; empty before the first. */
  parts(): { name: string; text: string }[];
  /** Builds the stable sections again: after clear and compact. */
  clear(): void;
}

export function openSystemPrompt(sections: readonly Section[]): SystemPrompt {
  const ordered = [...sections.filter(isStable), ...sections.filter((section) => !isStable(section))];
  let kept = new Map<Section, Promise<Built>>();
  let last: { name: string; text: string }[] = [];
  /** Async, so that an error thrown by `build` is a rejection, too. */
  const build = async (section: Section) => section.build();
  const read = (section: Section): Promise<Built> => {
    if (!isStable(section)) return build(section);
    // Captured here: a `clear` meanwhile starts another map, which this one must not fill.
    const mine = kept;
    const building = mine.get(section) ?? build(section);
    mine.set(section, building);
    building.catch(() => mine.delete(section));
    return building;
  };
  return {
    async blocks() {
      const texts = await Promise.all(ordered.map(read));
      const parts = ordered.map((section, i) => ({ section, text: texts[i] ?? "" })).filter(({ text }) => text !== "");
      last = parts.map(({ section, text }) => ({ name: section.name, text }));
      const join = (stable: boolean) =>
        parts
          .filter(({ section }) => isStable(section) === stable)
          .map(({ text }) => text)
          .join("\n\n");
      const [prefix, rest] = [join(true), join(false)];
      return [...(prefix === "" ? [] : [{ text: prefix, cache: true }]), ...(rest === "" ? [] : [{ text: rest }])];
    },
    parts: () => last.map((part) => ({ ...part })),
    clear() {
      kept = new Map();
    },
  };
}

interface AgentPrompt {
  tools?: AgentTools;
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

/** The agent's own sections, all of them stable. */
export function agentSections(options: AgentPrompt = {}): Section[] {
  const { tools, memory = () => null, attribution = null, keptResults = null, noteResults = false } = options;
  return [
    { name: "identity", build: () => IDENTITY_SECTION },
    { name: "tools", build: () => buildToolsSection(tools) },
    { name: "tone", build: () => TONE_SECTION },
    { name: "commits", build: () => attribution && buildCommitSection(attribution) },
    { name: "result-clearing", build: () => (keptResults === null ? null : buildResultClearingSection(keptResults)) },
    { name: "result-notes", build: () => (noteResults ? SUMMARIZE_TOOL_RESULTS_SECTION : null) },
    { name: MEMORY_SECTION, build: memory },
  ];
}

function isStable({ stable = true }: Section): boolean {
  return stable;
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
