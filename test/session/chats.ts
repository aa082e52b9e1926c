/** Sessions of Gemini CLI for tests, in the shapes that its versions wrote. */

import fs from "node:fs";
import path from "node:path";

export const CHAT = "2a6b7edd-2a81-4ea9-9e5e-3b1ebcf4220b";

type Line = Record<string, unknown>;

let count = 0;

function stamp(): Line {
  const timestamp = new Date(Date.UTC(2026, 2, 10, 12) + 1000 * ++count).toISOString();
  return { id: `5e55${String(count).padStart(4, "0")}-0000-4000-8000-000000000000`, timestamp };
}

export function head(more: Line = {}): Line {
  const startTime = "2026-03-10T12:00:00.000Z";
  return { sessionId: CHAT, projectHash: "a61cb118", startTime, lastUpdated: startTime, kind: "main", ...more };
}

/** A message of the user as it was sent; `shown` where the client showed something else. */
export function sent(texts: readonly string[], shown?: string): Line {
  const displayContent = shown === undefined ? {} : { displayContent: [{ text: shown }] };
  return { ...stamp(), type: "user", content: texts.map((text) => ({ text })), ...displayContent };
}

export function typed(text: string): Line {
  return sent([text]);
}

export function answered(content: unknown, more: Line = {}): Line {
  return { ...stamp(), type: "gemini", content, thoughts: [], model: "gemini-2.5-flash", ...more };
}

export function responseOf(id: string, name: string, output: string): Line {
  return { functionResponse: { id, name, response: { output } } };
}

/** As it stands in the record of the answer, when it is done. */
export function call(id: string, name: string, args: Line, output: string, more: Line = {}): Line {
  return { id, name, args, result: [responseOf(id, name, output)], status: "success", ...more };
}

/** What the client writes when it has changed what its model is sent. */
export function rewritten(...messages: Line[]): Line {
  return { $set: { messages, lastUpdated: "2026-03-10T12:30:00.000Z" } };
}

export function putChat(file: string, lines: readonly (Line | string)[]): string {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, lines.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join(""));
  return file;
}
