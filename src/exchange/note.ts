/** One Markdown file of anybody's as a memory: frontmatter where there is some, else its heading and its first words. */

import { isMemoryType, parseMemory } from "../store/store.ts";
import { type Field, findField, parseDocument } from "../text/frontmatter.ts";
import { describeBody, type Imported, textOf, textsOf, timeOf } from "./harvest.ts";
import { headingOf } from "./sections.ts";

/** `stem` names it where nothing else does. */
export function readNote(text: string, stem: string): Omit<Imported, "origin" | "trust"> {
  const { fields, body } = parseDocument(text);
  const first = (...keys: string[]) =>
    keys.map((key) => textOf(fieldOf(fields, key))).find((value) => value !== "") ?? "";
  const [top = "", ...below] = body.trim().split("\n");
  const heading = headingOf(top);
  const title = heading?.level === 1 ? heading.title : "";
  const name = first("name", "title") || title || stem;
  const type = first("type");
  const content = title !== "" && title === name ? below.join("\n").trim() : body.trim();
  return {
    name,
    description: first("description", "summary") || describeBody(content),
    type: isMemoryType(type) ? type : null,
    body: withTags(content, tagsOf(fields)),
    when: parseMemory("x.md", text).when,
    at: ["modified", "updated", "date", "created"].map((key) => timeOf(fieldOf(fields, key))).find(Boolean) ?? null,
  };
}

/** At the top, or under `metadata`, where Claude Code moves fields. */
function fieldOf(fields: readonly Field[], key: string): unknown {
  return (findField(fields, [key]) ?? findField(fields, ["metadata", key]))?.value;
}

function tagsOf(fields: readonly Field[]): string[] {
  const value = fieldOf(fields, "tags");
  return typeof value === "string" ? value.split(/[\s,]+/).filter((tag) => tag !== "") : textsOf(value);
}

/** They are words that recall can find it by. */
function withTags(body: string, tags: readonly string[]): string {
  return tags.length === 0 ? body : `${body}\n\nTags: ${tags.map((tag) => tag.replace(/^#/, "")).join(", ")}`.trim();
}
