/** The notes beside a session, for lists and searches: what it is about, and what it came to. */

import { dirname, join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { sessionIdOf } from "./session-reader.ts";

interface SessionNotes {
  /** Of the section with the title; null when it is empty. */
  title: string | null;
  /** What was noted, without headings and hints. */
  text: string;
}

/** A few pages; what is larger is none of ours. */
const MAX_BYTES = 256 * 1024;

/** Null when there are none. Must not throw. */
export function findNotes(transcript: string): SessionNotes | null {
  const file = join(dirname(transcript), sessionIdOf(transcript), "session-memory", "summary.md");
  let text: string | undefined;
  try {
    text = readRegular(file, { maxBytes: MAX_BYTES })?.toString("utf8");
  } catch {
    return null; // not for us
  }
  if (text === undefined) return null;
  // Headings and hints are the template's, and would be found in every session.
  const lines = text.split(/\r?\n/);
  const noted = lines.filter((line) => line.trim() !== "" && !/^#|^_.*_$/.test(line.trim()));
  const start = lines.findIndex((line) => /^#\s*session title\s*$/i.test(line.trim()));
  const rest = start < 0 ? [] : lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("#"));
  const title = (end < 0 ? rest : rest.slice(0, end)).find((line) => noted.includes(line));
  return { title: title?.trim() ?? null, text: noted.join("\n") };
}
