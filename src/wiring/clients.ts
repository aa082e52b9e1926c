/** The clients that can be wired, in the order in which they are shown. */

import { MemdirError } from "../errors.ts";
import { claudeCode } from "./claude-code.ts";
import type { Client } from "./client.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { vscode } from "./vscode.ts";
import type { WiringWorld } from "./world.ts";

export const CLIENTS: readonly Client[] = [claudeCode, codex, gemini, opencode, cursor, vscode];

/** What people call them otherwise. */
const ALIASES: Readonly<Record<string, string>> = { claude: "claude-code", "gemini-cli": "gemini", code: "vscode" };

/** The named ones, whether or not they are found here; without names those that are. Throws `usage` for an unknown name. */
export function chooseClients(world: WiringWorld, names: readonly string[]): Client[] {
  if (names.length === 0) return CLIENTS.filter((client) => client.find(world) !== null);
  const wanted = names.map((name) => ALIASES[name] ?? name);
  const unknown = wanted.find((name) => !CLIENTS.some((client) => client.name === name));
  if (unknown !== undefined) {
    const known = CLIENTS.map(({ name }) => name).join(", ");
    throw new MemdirError("usage", `there is no agent "${unknown}" that memdir can wire; it knows ${known}`);
  }
  return CLIENTS.filter(({ name }) => wanted.includes(name));
}
