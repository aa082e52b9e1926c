/** The form of session notes: their sections, what may not change in them, and the user's own template and prompt. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { NOTES_TEMPLATE, type NotesSize } from "../prompts/learning.ts";

/** About what the client we share the file with allows: a section a page and a half, all of them a tenth of a small window. */
const MAX_SECTION_TOKENS = 2_000;
const MAX_NOTES_TOKENS = 12_000;

/** Compaction reads no more than this; all sections at their limit are smaller in any script. */
export const MAX_NOTES_BYTES = 64 * 1024;

/**
 * `configDir`: `session-memory/config` of the user. Must not throw: a file that cannot be used is logged, and the
 * built-in one is used. `template` is what the notes start as, `prompt` the user's own, else null.
 */
export function readNotesForm(configDir: string, log: (message: string) => void) {
  const template = readOwn(join(configDir, "template.md"), log);
  const prompt = readOwn(join(configDir, "prompt.md"), log);
  if (template === null || parseSections(template).length > 0) return { template: template ?? NOTES_TEMPLATE, prompt };
  log(
    `session notes: ${join(configDir, "template.md")} has no line that begins with "# "; the built-in template is used`,
  );
  return { template: NOTES_TEMPLATE, prompt };
}

/** Null if it is missing or empty. Links are followed: it is the user's own folder, and often a link. */
function readOwn(file: string, log: (message: string) => void): string | null {
  try {
    const text = readRegular(file, { follow: true, maxBytes: MAX_NOTES_BYTES })
      ?.toString("utf8")
      .replace(/^\ufeff/, "");
    if (text !== undefined) return text.trim() === "" ? null : text;
    if (lstatSync(file, { throwIfNoEntry: false })) {
      log(`session notes: ${file} is ignored: it is not a regular file, or larger than ${MAX_NOTES_BYTES} bytes`);
    }
  } catch (error) {
    log(`session notes: ${file} is ignored: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
  return null;
}

/** In order: headings without the `# `, the line in italics right below each, if there is one. A `# ` inside a fenced block is a comment in code. */
export function parseSections(text: string) {
  const sections: { heading: string; lines: string[] }[] = [];
  let open: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark: string | undefined = FENCE.exec(line)?.[1];
    if (open === null && line.startsWith("# ")) {
      sections.push({ heading: line.slice(2).trim(), lines: [] });
      continue;
    }
    if (open === null) open = mark ?? null;
    else if (mark?.startsWith(open) && line.trim() === mark) open = null;
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => {
    const hasHint = HINT.test(lines[0] ?? "");
    const body = lines.slice(hasHint ? 1 : 0).join("\n");
    return { heading, hint: hasHint ? (lines[0] as string).trim() : null, body: body.trim() };
  });
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** One pair of marks around the whole line: bold text is not a hint. */
const HINT = /^\s*(?:_[^_\s].*_|\*[^*\s].*[^*]\*)\s*$/;

/** What an edit did to headings and hints, as a message for its author; null when they are unchanged. */
export function findDamage(before: string, after: string): string | null {
  const [old, fresh] = [parseSections(before), parseSections(after)];
  for (const [i, { heading, hint }] of old.entries()) {
    const now = fresh[i];
    if (now?.heading !== heading) {
      if (!fresh.some((section) => section.heading === heading))
        return `the heading "# ${heading}" is missing or changed`;
      return `the heading "# ${heading}" has moved`;
    }
    if (hint !== null && now.hint !== hint) return `the line in italics below "# ${heading}" is missing or changed`;
  }
  const added = fresh[old.length];
  return added ? `the heading "# ${added.heading}" is new` : null;
}

export function measureNotes(text: string, countTokens: (text: string) => number): NotesSize {
  const large = parseSections(text)
    .map(({ heading, body }) => ({ heading, tokens: countTokens(body) }))
    .filter(({ tokens }) => tokens > MAX_SECTION_TOKENS)
    .sort((a, b) => b.tokens - a.tokens);
  return {
    large,
    totalTokens: countTokens(text),
    maxSectionTokens: MAX_SECTION_TOKENS,
    maxTotalTokens: MAX_NOTES_TOKENS,
  };
}
