/** What a client's files name now: the hook, the plugin, the server. Reads, and changes nothing. */

import { getNodeValue } from "jsonc-parser";
import { hasBlock } from "./block-part.ts";
import type { Client } from "./client.ts";
import { type HooksPart, readHook } from "./hooks-part.ts";
import { commandsOf, type Part } from "./part.ts";
import { readReceipt } from "./receipt.ts";
import { readTable } from "./table-part.ts";
import { readUserFile } from "./user-file.ts";
import { type ValuePart, walk } from "./value-part.ts";
import type { WiringWorld } from "./world.ts";

export type Door =
  | { kind: "hook"; command: string; event: string }
  | { kind: "plugin"; file: string }
  | { kind: "server"; command: string; args: string[]; env: Record<string, string> };

export interface Wired {
  client: Client;
  /** Each with the file that names it. */
  doors: { file: string; door: Door }[];
  /** What does the same besides, in words. */
  other: string | null;
  /** What should be there and is not, in words. */
  missing: string[];
}

/** Clients that the receipt names or whose files have something of ours; nothing for all others. */
export function findWired(world: WiringWorld, clients: readonly Client[]): Wired[] {
  const { entries } = readReceipt(world);
  return clients.flatMap((client) => {
    const parts = client.parts(world);
    const known = commandsOf([...parts, ...entries.flatMap((entry) => entry.parts)]);
    const wired: Wired = { client, doors: [], other: client.findOther?.(world) ?? null, missing: [] };
    let count = 0;
    for (const part of parts) {
      const found = look(part, known);
      if ("problem" in found) wired.missing.push(found.problem);
      else count += 1;
      if ("door" in found) wired.doors.push({ file: part.file, door: found.door });
    }
    const isNamed = entries.some((entry) => entry.client === client.name);
    return count > 0 || isNamed ? [wired] : [];
  });
}

/** The prompt's event, as the clients call it. */
const PROMPT_EVENTS = ["UserPromptSubmit", "BeforeAgent"];

type Found = { problem: string } | { door: Door } | { there: true };

function look(part: Part, known: ReadonlySet<string>): Found {
  try {
    const text = readUserFile(part.file).text?.replace(/^\ufeff/, "") ?? "";
    const found = text.trim() === "" ? null : lookInto(text, part, known);
    return found ?? { problem: `${part.file} lacks memdir's part (${part.why})` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function lookInto(text: string, part: Part, known: ReadonlySet<string>): Found | null {
  switch (part.kind) {
    case "hooks":
      return lookForHook(text, part, known);
    case "value":
      return lookForServer(text, part);
    case "table":
      return serverOf(readTable(text, part, "command"), readTable(text, part, "args"), {});
    case "file":
      if (!text.includes(part.mark)) return null;
      return part.file.endsWith(".js") ? { door: { kind: "plugin", file: part.file } } : { there: true };
    case "block":
      return hasBlock(text) ? { there: true } : null;
  }
}

function lookForHook(text: string, part: HooksPart, known: ReadonlySet<string>): Found | null {
  const event = PROMPT_EVENTS.find((name) => name in part.hooks);
  const command = event ? readHook(text, part, event, known) : null;
  return event && command !== null ? { door: { kind: "hook", command, event } } : null;
}

function lookForServer(text: string, { at, file }: ValuePart): Found | null {
  const { node, missing } = walk(text, at, file);
  if (missing.length > 0) return null;
  const { command, args, env, environment } = getNodeValue(node) ?? {};
  return Array.isArray(command) ? serverOf(command[0], command.slice(1), environment) : serverOf(command, args, env);
}

function serverOf(command: unknown, args: unknown, env: unknown): Found | null {
  if (typeof command !== "string" || !Array.isArray(args)) return null;
  const pairs = Object.entries(typeof env === "object" && env !== null ? env : {});
  const texts = pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return { door: { kind: "server", command, args: args.map(String), env: Object.fromEntries(texts) } };
}
