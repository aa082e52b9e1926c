/** The user's own settings file: the one place where an approval or a project's directory name is written. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config.ts";
import { openJson } from "../config.ts";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";

/** Sets or removes (`null`) one entry of a map in the file; everything else in it stays. */
export function setUserEntry(
  config: Config,
  map: "trusted" | "directories" | "teams" | "approvedImports" | "permitted",
  key: string,
  value: string | readonly string[] | null,
): void {
  const file = config.userFile;
  const content = readObject(file);
  const entries = { ...(content[map] as Record<string, string | readonly string[]> | undefined) };
  if (value === null) delete entries[key];
  else entries[key] = value;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const text = `${JSON.stringify({ ...content, [map]: entries }, null, 2)}\n`;
    moveInto(writeTemporary(dirname(file), text, PRIVATE_MODE, ".memdir"), file);
  } catch (error) {
    throw diskError(error, "write", file);
  }
}

function readObject(file: string): Record<string, unknown> {
  const problems: string[] = [];
  const { values } = openJson(file, problems);
  if (problems[0] !== undefined) throw new MemdirError("broken", `nothing was changed, because of ${problems[0]}`);
  return values;
}
