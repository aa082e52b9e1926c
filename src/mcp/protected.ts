/** What the user said or wrote themselves: a client does not change it without saying so, and a rule that is enforced not at all. */

import { join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { findEnforced, type Memory, type MemoryType, oneLine, parseMemory, sameName, trustOf } from "../store/store.ts";

interface Wanted {
  type: MemoryType;
  name: string;
  description: string;
  body: string;
  /** The client says that the user wants it. */
  replace: boolean;
}

/** Whether the save only says again what the user said, and so takes nothing from its trust. Throws for what may not be replaced. */
export async function checkReplacing(memdir: Memdir, wanted: Wanted): Promise<"new" | "same"> {
  const there = await findThere(memdir, wanted);
  if (!there || trustOf(there.memory.source) !== "user") return "new";
  if (isSame(there.memory, wanted)) return "same";
  const { file } = there.memory;
  if (there.isEnforced) throw enforced(file, "change", "edit");
  if (wanted.replace) return "new";
  throw new MemdirError(
    "conflict",
    `not saved: ${file} is what the user said or wrote themselves. If they want it changed now, call again with \`replace\` true; else save it under another name`,
  );
}

/** A memory that cannot be read can still be forgotten. */
export async function checkForgetting(memdir: Memdir, name: string): Promise<void> {
  const there = await memdir.text(name).catch(() => null);
  if (there && findEnforced(there.file, there.text)) throw enforced(there.file, "take back", "forget");
}

function enforced(file: string, what: string, command: string): MemdirError {
  return new MemdirError(
    "conflict",
    `${file} is a rule that the user has enforced, and only they can ${what} it: memdir ${command} ${file}`,
  );
}

/** The one that a save would update, found as a save finds it. */
async function findThere(
  memdir: Memdir,
  { type, name }: Wanted,
): Promise<{ memory: Memory; isEnforced: boolean } | null> {
  const own = memdir.directories[0]?.path ?? "";
  const row = (await memdir.list()).find(
    (row) =>
      !row.unreadable &&
      row.path === join(own, row.file) &&
      sameName(row.name, name) &&
      (!row.typeExplicit || row.type === type),
  );
  const data = row ? readRegular(row.path) : null;
  if (!row || !data) return null;
  return { memory: parseMemory(row.file, data), isEnforced: findEnforced(row.file, data) !== null };
}

function isSame(memory: Memory, { description, body }: Wanted): boolean {
  return oneLine(memory.body) === oneLine(body) && oneLine(memory.description) === oneLine(description);
}
