/** Without a model: what one would be shown for these words. */

import type { Preview } from "../../agent/agent.ts";
import type { Memdir } from "../../memdir.ts";
import type { Color } from "../command.ts";
import { sanitise } from "./sanitise.ts";

export function previewText({ memories, leftOut, instructions }: Preview, memdir: Memdir, color: Color): string {
  const short = (path: string) => sanitise(path.replace(`${memdir.config.home}/`, "~/"));
  const lines = ["No model is configured, so nobody answers. A model would be shown:"];
  for (const { path, size } of instructions) {
    lines.push(`  instructions  ${short(path)} ${color.dim(`${size} characters`)}`);
  }
  for (const { name, description, why } of memories) {
    const said = description === "" ? "" : ` — ${description}`;
    lines.push(`  memory        ${color.bold(sanitise(name))}${sanitise(said)}`);
    if (why.length > 0) lines.push(color.dim(`                ${sanitise(why.join("; "))}`));
  }
  for (const name of leftOut) lines.push(color.dim(`  no room for   ${sanitise(name)}`));
  if (memories.length === 0) lines.push("  no memory: none fits these words");
  if (instructions.length === 0) lines.push("  no instructions: there is no CLAUDE.md here");
  return lines.join("\n");
}
