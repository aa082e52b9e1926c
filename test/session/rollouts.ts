/** Rollouts of Codex for tests, in the shapes that its versions wrote. */

import fs from "node:fs";
import path from "node:path";

export const THREAD = "0199a213-81c0-7800-8aa1-bbab2a035a53";

type Line = Record<string, unknown>;

let ticks = 0;

/** A line of today's shape; the clock ticks with every one. */
export function line(type: string, payload: Line): Line {
  return { timestamp: new Date(Date.UTC(2026, 2, 10, 12) + 1000 * ticks++).toISOString(), type, payload };
}

export function meta(cwd: string, more: Line = {}): Line {
  const facts = { timestamp: "2026-03-10T12:00:00.000Z", originator: "codex_cli_rs", cli_version: "0.98.0" };
  return line("session_meta", { id: THREAD, cwd, source: "cli", ...facts, base_instructions: { text: "x" }, ...more });
}

export function message(role: string, ...texts: string[]): Line {
  const type = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: texts.map((text) => ({ type, text })) };
}

/** A line of the model's own input and output. */
export function item(payload: Line): Line {
  return line("response_item", payload);
}

/** What the user types: the message and the event for it. */
export function typed(text: string): Line[] {
  return [item(message("user", text)), line("event_msg", { type: "user_message", message: text, images: [] })];
}

export function answered(text: string): Line {
  return item(message("assistant", text));
}

/** How a session begins: settings, and what Codex puts into the user's mouth. */
export function opening(cwd: string, more: Line = {}): Line[] {
  return [
    meta(cwd, more),
    item(message("developer", "<permissions instructions>always ask</permissions instructions>")),
    item(
      message(
        "user",
        `# AGENTS.md instructions for ${cwd}\n\n<INSTRUCTIONS>\nRemember that we always use tabs.\n</INSTRUCTIONS>`,
        `<environment_context>\n  <cwd>${cwd}</cwd>\n</environment_context>`,
      ),
    ),
    line("turn_context", { cwd, model: "gpt-5", approval_policy: "never" }),
  ];
}

export function textOfLines(lines: readonly (Line | string)[]): string {
  return lines.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");
}

export function putRollout(file: string, lines: readonly (Line | string)[], changed?: Date): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, textOfLines(lines));
  if (changed) fs.utimesSync(file, changed, changed);
  return file;
}
