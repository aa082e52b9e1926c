/** How clients are told to start us: the hook as a line for a shell, the server as a program and its arguments. */

import { join } from "node:path";
import type { WiringWorld } from "./world.ts";

/** The hook for a client that hands the line to whatever shell the system has. */
export function hookCommand(world: WiringWorld): string {
  return `${quote(world.node, world.platform)} ${quote(join(world.dist, "hook.cjs"), world.platform)}`;
}

export function serverCommand(world: WiringWorld): { command: string; args: string[] } {
  return { command: world.node, args: [join(world.dist, "cli.js"), "mcp"] };
}

/** Whether a hook's line is one of ours, also of an installation that is gone: the ones we remember, and the usual place. */
export function isOurHook(command: unknown, known: ReadonlySet<string>): boolean {
  if (typeof command !== "string") return false;
  return known.has(command) || /[\\/]memdir[\\/]dist[\\/]hook\.cjs["']?\s*$/.test(command);
}

/**
 * Double quotes mean the same to sh, bash and cmd. What still has a meaning inside them is escaped for the first two; on
 * Windows forward slashes do, as a client may use either shell there.
 */
function quote(path: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return `"${path.replaceAll("\\", "/")}"`;
  return `"${path.replace(/["$`\\]/g, "\\$&")}"`;
}
