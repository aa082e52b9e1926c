/** Memories as one Markdown document, and as a section of AGENTS.md between marks of ours. */

import { MemdirError } from "../errors.ts";
import { MEMORY_TYPES, type MemoryType } from "../store/store.ts";
import type { Collected } from "./collection.ts";

const MARK = "<!-- memdir export: written by `memdir export`, replaced by the next one -->";

const HEADINGS: Record<MemoryType, string> = {
  user: "About the user",
  feedback: "How to work",
  project: "About the project",
  reference: "Where to look",
};

export function formatMarkdown(memories: readonly Collected[]): string {
  const parts = MEMORY_TYPES.flatMap((type) => {
    const own = memories.filter(({ memory }) => memory.type === type);
    return own.length === 0 ? [] : [`## ${HEADINGS[type]}`, ...own.map(({ memory }) => formatOne(memory))];
  });
  return `${[MARK, "# Memories", ...parts].join("\n\n")}\n`;
}

function formatOne({ name, description, body }: Collected["memory"]): string {
  const said = body.trim().replaceAll("\r\n", "\n");
  const lead = description === "" || said.includes(description) ? [] : [`*${tame(description)}*`];
  return [`### ${tame(name)}`, ...lead, ...(said === "" ? [] : [said])].join("\n\n");
}

export function isOwnMarkdown(text: string): boolean {
  return text.replace(/^\uFEFF/, "").startsWith(MARK);
}

const BEGIN = "<!-- memdir:begin (written by `memdir export`; what stands between the marks is replaced) -->";
const END = "<!-- memdir:end -->";
const BEGIN_LINE = /^[ \t]*<!-- memdir:begin\b.*-->[ \t]*$/gm;
const END_LINE = /^[ \t]*<!-- memdir:end\b.*-->[ \t]*$/gm;

export function formatSection(memories: readonly Collected[]): string {
  const parts = MEMORY_TYPES.flatMap((type) => {
    const own = memories.filter(({ memory }) => memory.type === type);
    return own.length === 0
      ? []
      : [
          `### ${HEADINGS[type]}`,
          own
            .map(({ memory }) => formatItem(memory))
            .join("\n")
            .trimEnd(),
        ];
  });
  return [BEGIN, "## Memory", ...parts, END].join("\n\n");
}

/** Inside a list item nothing of a body can end the section or open another one. */
function formatItem({ name, description, body }: Collected["memory"]): string {
  const said = (body.trim() || description).replaceAll("\r\n", "\n").replaceAll("<!--", "\\<!--");
  const lines = said.split("\n").map((line) => (line.trim() === "" ? "" : `  ${line}`));
  const short =
    lines.length === 1 && said.length < ONE_LINE && /^[\p{L}\p{N}`"'(]/u.test(said) && !/^\d+[.)]/.test(said);
  return short ? `- **${tame(name)}**: ${said}` : `- **${tame(name)}**\n\n${lines.join("\n")}\n`;
}

/** A longer text reads better below its name, and a list or a heading is one only there. */
const ONE_LINE = 200;

function tame(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("<!--", "\\<!--").replace(/[*`]/g, "");
}

export function hasSection(text: string): boolean {
  return text.search(BEGIN_LINE) >= 0 || text.search(END_LINE) >= 0;
}

/** The file with its section replaced, or added at the end; every other byte stays. */
export function putSection(file: string, text: string, section: string): string {
  const begins = [...text.matchAll(BEGIN_LINE)];
  const ends = [...text.matchAll(END_LINE)];
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const fresh = section.replaceAll("\n", eol);
  const [begin] = begins;
  const [end] = ends;
  if (!begin && !end) {
    const gap = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
    return `${text}${gap}${fresh}${eol}`;
  }
  if (!begin || !end || begins.length > 1 || ends.length > 1 || end.index < begin.index) {
    const message = `${file} has a mark of memdir's without its other half, or more than one pair: mend them by hand`;
    throw new MemdirError("conflict", message);
  }
  return text.slice(0, begin.index) + fresh + text.slice(end.index + end[0].length);
}
