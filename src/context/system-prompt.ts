/** The system prompt from named sections: a prefix that is the same bytes from turn to turn, and what changes behind it. */

import type { SystemBlock } from "../model/ask.ts";
import { type AgentTools, buildToolsSection, IDENTITY_SECTION, TONE_SECTION } from "../prompts/agent.ts";
import { type Attribution, buildCommitSection } from "../prompts/commits.ts";
import { buildResultClearingSection, SUMMARIZE_TOOL_RESULTS_SECTION } from "../prompts/tool-results.ts";

type Built = string | null;

export interface Section {
  name: string;
  /** Null or "" leaves it out. */
  build: () => Built | Promise<Built>;
  /** True, the default, is built once and kept until `clear`; false is built for every request. */
  stable?: boolean;
}

export interface SystemPrompt {
  /** Fails as a section's `build` fails; what failed is tried again the next time. */
  blocks(): Promise<SystemBlock[]>;
  /** What the last blocks were made of, in their order; nothing before the first. */
  parts(): { name: string; text: string }[];
  /** The stable sections are built anew: after clear and compact. */
  clear(): void;
}

export function openSystemPrompt(sections: readonly Section[]): SystemPrompt {
  const ordered = [...sections.filter(isStable), ...sections.filter((section) => !isStable(section))];
  let kept = new Map<Section, Promise<Built>>();
  let last: { name: string; text: string }[] = [];
  const read = (section: Section): Promise<Built> => {
    if (!isStable(section)) return build(section);
    // Held here: a `clear` meanwhile starts another map, which this one must not fill.
    const mine = kept;
    const known = mine.get(section);
    if (known) return known;
    const building = build(section);
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
  /** What the agent is told of its memory, without the index, which is in the user context. */
  memory?: Section["build"];
  /** Without it nothing is said of commits. */
  attribution?: Attribution | null;
  /** How many of the newest tool results the host never clears; null when it clears none. */
  keptResults?: number | null;
  /** Whether what tools found is to be written down in answers. */
  noteResults?: boolean;
}

/** The name of the section about memory, by which `/context` knows it. */
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

/** Async, so that what `build` throws is a rejection too. */
async function build(section: Section): Promise<Built> {
  return section.build();
}
