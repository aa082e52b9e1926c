/** The memory directories as the tools see them: writes go through Memdir's own checks, and what is read says how old it is. */

import { statSync } from "node:fs";
import { basename } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import type { Memdir } from "../memdir.ts";
import { formatReminder } from "../recall/injection.ts";
import { freshnessWarning } from "../recall/neutral.ts";
import { ageInDays, formatSource, INDEX_FILE } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import type { Workbench } from "../tools/workbench.ts";
import type { Tell } from "./event.ts";

interface StoreWorld {
  /** The session that new memories say they come from. */
  session: () => string;
  now: () => Date;
  /** Whether anything is kept in this session. */
  isOn: () => boolean;
  tell: Tell;
}

export function openMemoryStore(
  memdir: Memdir,
  { session, now, isOn, tell }: StoreWorld,
): NonNullable<Workbench["store"]> {
  const owned = memdir.directories.filter(({ readOnly }) => !readOnly).map(({ path }) => path);
  const owns = (path: string) => owned.some((dir) => isWithin(realPath(dir), realPath(path)));
  return {
    owns,
    async write(path, text, base) {
      if (!isOn()) throw new Error("memory is switched off in this session, and nothing is kept; tell the user so");
      const { file, action, notices } = await memdir.put(
        path,
        base === null ? withSource(path, text, session()) : text,
        base,
        { trust: "inferred" },
      );
      if (action !== "unchanged") tell({ type: "saved", file, action, notices });
      return { notices };
    },
    remark(path) {
      const stat = owns(path) && basename(path).endsWith(".md") ? statSync(path, { throwIfNoEntry: false }) : undefined;
      const warning = stat ? freshnessWarning(ageInDays(stat.mtimeMs, now().getTime())) : "";
      return warning === "" ? null : formatReminder(warning);
    },
  };
}

/**
 * A model may write down what a document talked it into, so a new memory is its conclusion, not the user's word: it is shown as
 * such, nothing more trusted gives way to it, and no rule in it is enforced. Whatever source the model names does not count.
 */
function withSource(path: string, text: string, session: string): string {
  const file = basename(path);
  if (!file.endsWith(".md") || file === INDEX_FILE) return text;
  return editFields(text, { source: formatSource({ by: "inferred", session, message: null }) });
}
