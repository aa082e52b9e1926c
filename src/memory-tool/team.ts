/** The memory tool where its files are the team's: nothing is changed there, and what the model wants waits for a person. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { type Wish, wishOfText, wishToForget } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { mirrorOf } from "../project/scopes.ts";
import { isMemoryFile, type Store } from "../store/store.ts";
import { findEditable, readText, type TextEdit } from "./files.ts";
import { type Item, missing } from "./item.ts";

const BY = "the memory tool";

export function openTeam(memdir: Memdir, maxBytes: number) {
  const [directory] = memdir.directories as [Store];
  const isOwn = directory.scope === "team";
  const mirror = mirrorOf(directory.path);
  const folder = mirror.slice(directory.path.length + 1);
  const isMirrored = existsSync(join(mirror, ".memdir"));
  const propose = async (item: Item, wishFor: (file: string, team: Store) => Wish): Promise<string> => {
    const team = isOwn ? directory : memdir.directories.find(({ path }) => path === mirror);
    const file = isOwn ? item.file : item.file.slice(folder.length + 1);
    if (!team || !isMemoryFile(file))
      throw new MemdirError("usage", `Nothing was changed: ${item.shown} is the team's, which people change`);
    const wish = wishFor(file, team);
    if (Buffer.byteLength(wish.body) > maxBytes) throw new MemdirError("usage", "Nothing was changed: it is too long");
    return `Nothing was changed yet: ${(await memdir.propose(team, wish)).says}`;
  };
  return {
    /** The whole directory may be the team's, or a server's mirror inside the project's. */
    has: ({ file }: Item) => isOwn || (isMirrored && (file === folder || file.startsWith(`${folder}/`))),
    async create(item: Item, text: string) {
      if (item.kind !== null) throw new MemdirError("conflict", `File ${item.shown} already exists`);
      return propose(item, (file) => wishOfText(file, text, true, BY));
    },
    async edit(path: unknown, change: (before: string, item: Item) => TextEdit) {
      const item = findEditable(directory, path);
      return propose(item, (file) => wishOfText(file, change(readText(item), item).text, false, BY));
    },
    async remove(item: Item) {
      if (item.kind === null) throw missing(item.shown);
      return propose(item, (file, team) => wishToForget(team, file, BY));
    },
  };
}
