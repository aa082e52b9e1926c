/** A tool's call and its result, one line each, made of text that a model and its tools wrote: harmless and cut to the width. */

import { isAbsolute, relative } from "node:path";
import type { Paint } from "./paint.ts";
import { sanitise, sanitiseLine } from "./sanitise.ts";
import { cut } from "./wrap.ts";

export interface ToolLineOptions {
  columns: number;
  paint: Paint;
  /** Paths below it are shown relative to it. */
  cwd: string;
}

/** `● Read src/a.ts`, `● Bash npm test`. */
export function toolLine(
  call: { name: string; input: Readonly<Record<string, unknown>> },
  { columns, paint, cwd }: ToolLineOptions,
): string {
  const subject = subjectOf(call.name, call.input, cwd);
  const name = cut(sanitiseLine(call.name), columns);
  return cut(`${paint.green("●")} ${paint.bold(name)}${subject === "" ? "" : ` ${subject}`}`, columns);
}

/** Its first line and how many there are, dim; an error in red. */
export function toolResultLine(
  result: { content: string; isError?: boolean },
  { columns, paint }: Omit<ToolLineOptions, "cwd">,
): string {
  // Only what is shown is looked at: a result may be very long.
  const lines = countLines(result.content);
  const first = firstLine(result.content.slice(0, MAX_LOOKED_AT));
  const rest = lines > 1 ? ` (${lines} lines)` : "";
  const said = first === "" ? "(nothing)" : first;
  const room = Math.max(1, columns - LEAD.length - rest.length);
  if (result.isError) return cut(`${LEAD}${paint.red(cut(said, room))}${paint.dim(rest)}`, columns);
  return cut(paint.dim(`${LEAD}${cut(said, room)}${rest}`), columns);
}

const LEAD = "  └ ";
const MAX_LOOKED_AT = 4000;

/** What a call is about, as one line. */
function subjectOf(name: string, input: Readonly<Record<string, unknown>>, cwd: string): string {
  const text = (key: string) =>
    typeof input[key] === "string" ? sanitiseLine(String(input[key]).slice(0, MAX_LOOKED_AT)) : "";
  const file = shorten(text("file_path") || text("path"), cwd);
  if (name === "Bash") return text("command");
  if (name === "Glob" || name === "Grep") return [text("pattern"), file && `in ${file}`].filter(Boolean).join(" ");
  if (file !== "") return file;
  for (const key of ["command", "pattern", "query", "description", "prompt", "url"])
    if (text(key) !== "") return text(key);
  return Object.keys(input).length === 0 ? "" : sanitiseLine(toJson(input).slice(0, MAX_LOOKED_AT));
}

function shorten(file: string, cwd: string): string {
  if (!isAbsolute(file)) return file;
  const inside = relative(cwd, file);
  return inside === "" || /^\.\.(?:[\\/]|$)/.test(inside) || isAbsolute(inside) ? file : inside;
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input) ?? "";
  } catch {
    return "";
  }
}

function firstLine(text: string): string {
  return (
    sanitise(text)
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}

function countLines(text: string): number {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
