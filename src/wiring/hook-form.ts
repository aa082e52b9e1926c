/** In which form a client's hooks are wired: what the client can do, what the user chose, and what rules need. */

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../errors.ts";
import { type Directory, listEntries, peekForHooks } from "../store/store.ts";
import { CLIENTS, type Client, claudeFolder, findClient, type HookForm } from "./clients.ts";
import type { Machine } from "./machine.ts";
import { commandsOf, readForms } from "./parts.ts";
import { type HOOK_CHOICES, readReceipt } from "./receipt.ts";
import { readPlain } from "./user-file.ts";

/** What decides besides the client. */
export interface HookWish extends Pick<HookForm, "hasRules" | "prefetches"> {
  hooks: HookChoice;
}

export type HookChoice = (typeof HOOK_CHOICES)[number];

export function formFor(machine: Machine, client: Client, { hooks, ...wish }: HookWish): HookForm {
  return { ...wish, byServer: hooks === "server" && canCall(client, findVersion(machine, client)) === true };
}

/** Null when the version is not known. */
export function canCall({ calls }: Client, version: string | null): boolean | null {
  if (!calls) return false;
  return version === null ? null : version.localeCompare(calls.since, "en", { numeric: true }) >= 0;
}

/** It prints a line and ends; a client that takes longer is updating itself, or hangs. */
const VERSION_MS = 3_000;

/** As the client says itself; null when that cannot be told. */
export function findVersion(machine: Machine, { calls }: Client): string | null {
  const program = calls ? findClient(machine, calls.program) : null;
  if (program === null) return null;
  const env = { ...program.env, DISABLE_AUTOUPDATER: "1" };
  const limit = { timeout: VERSION_MS, killSignal: "SIGKILL" } as const;
  const how = { ...limit, cwd: machine.home, env, encoding: "utf8", windowsHide: true } as const;
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const said = attempt(() => execFileSync(program.file, ["--version"], { ...how, stdio: [...stdio] }), "");
  return /\d+\.\d+\.\d+/.exec(said)?.[0] ?? null;
}

/** Whether any store of the user's has an enforced rule: those given, the user's own, and every project's. Writes nothing. */
export function hasRules(machine: Machine, directories: readonly Directory[]): boolean {
  const [first] = directories;
  if (!first) return false;
  const folder = claudeFolder(machine);
  const projects = attempt(() => readdirSync(join(folder, "projects")), []);
  const others = [join(folder, "memory"), ...projects.map((name) => join(folder, "projects", name, "memory"))]
    .filter((path) => !directories.some((directory) => directory.path === path))
    .map((path) => ({ ...first, path, inRepository: false }));
  return [...directories, ...others].some((directory) => findRule({ ...directory, readOnly: true }));
}

function findRule(directory: Directory): boolean {
  // One that is not readable is reported by `memdir doctor`.
  return attempt(() => {
    const peeked = peekForHooks(directory);
    const entries = peeked && peeked.stale.length === 0 ? peeked.entries : listEntries(directory);
    return entries.some((entry) => entry.isForHooks && entry.details.rule !== null);
  }, false);
}

/** The form of each hook in a client's files, by event; what cannot be read is reported where it is changed. */
export function findForms(machine: Machine, client: Client): Map<string, "command" | "mcp_tool"> {
  const [part] = client.parts(machine).filter((each) => each.kind === "hooks");
  const known = commandsOf([...client.parts(machine), ...readReceipt(machine).entries.flatMap(({ parts }) => parts)]);
  return attempt(() => (part ? readForms(readPlain(part.file), part.file, known) : new Map()), new Map());
}

/** Clients whose rules do not hold when memdir's server is switched off. */
export function findRuleGaps(machine: Machine): Client[] {
  return CLIENTS.filter((client) => findForms(machine, client).get("PreToolUse") === "mcp_tool");
}
