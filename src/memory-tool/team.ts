/** The memory tool where its files are the team's: nothing is changed there, and what the model wants waits for a person. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { type Wish, wishOfText, wishToForget } from "../learn/wish.ts";
import type { Memdir } from "../memdir.ts";
import { mirrorOf } from "../project/scopes.ts";
import { isMemoryFile, type Store } from "../store/store.ts";
import type { MemoryToolHandlers } from "./commands.ts";
import { findEditable, insertText, readText, replaceText } from "./files.ts";
import { findFreeItem, findItem, type Item, missing } from "./item.ts";

const BY = "the memory tool";

/** The commands that write, each as it is unless its path is the team's: the whole directory, or a server's mirror inside the project's. */
export function withTeam(handlers: MemoryToolHandlers, memdir: Memdir, maxBytes: number): Partial<MemoryToolHandlers> {
  const [directory] = memdir.directories as [Store];
  const mirror = mirrorOf(directory.path);
  const folder = mirror.slice(directory.path.length + 1);
  const isMirrored = existsSync(join(mirror, ".memdir"));
  const isTeams = ({ file }: Item) =>
    directory.scope === "team" || (isMirrored && (file === folder || file.startsWith(`${folder}/`)));
  /** The store and the file there. */
  const placeOf = (item: Item): { team: Store; file: string } => {
    const isOwn = directory.scope === "team";
    const team = isOwn ? directory : memdir.directories.find(({ path }) => path === mirror);
    const file = isOwn ? item.file : item.file.slice(folder.length + 1);
    if (team && isMemoryFile(file)) return { team, file };
    throw new MemdirError("usage", `Nothing was changed: ${item.shown} is the team's, which people change`);
  };
  const propose = async (team: Store, wish: Wish): Promise<string> => {
    if (Buffer.byteLength(wish.body) > maxBytes) throw new MemdirError("usage", "Nothing was changed: it is too long");
    return `Nothing was changed yet: ${(await memdir.propose(team, wish)).says}`;
  };
  const proposeEdit = (item: Item, edit: (text: string) => string): Promise<string> => {
    const { team, file } = placeOf(item);
    return propose(team, wishOfText(file, edit(readText(item)), false, BY));
  };
  return {
    async create(command) {
      const item = findFreeItem(directory, command.path);
      if (!isTeams(item)) return handlers.create(command);
      if (item.kind !== null) throw new MemdirError("conflict", `File ${item.shown} already exists`);
      const { team, file } = placeOf(item);
      return propose(team, wishOfText(file, String(command.file_text), true, BY));
    },
    async str_replace(command) {
      if (!isTeams(findItem(directory, command.path))) return handlers.str_replace(command);
      const item = findEditable(directory, command.path);
      const put = (text: string) => replaceText(text, String(command.old_str), command.new_str ?? "", item.shown).text;
      return proposeEdit(item, put);
    },
    async insert(command) {
      if (!isTeams(findItem(directory, command.path))) return handlers.insert(command);
      const put = (text: string) => insertText(text, command.insert_line, String(command.insert_text)).text;
      return proposeEdit(findEditable(directory, command.path), put);
    },
    async delete(command) {
      const item = findItem(directory, command.path);
      if (item.file === "" || !isTeams(item)) return handlers.delete(command);
      if (item.kind === null) throw missing(item.shown);
      const { team, file } = placeOf(item);
      return propose(team, wishToForget(team, file, BY));
    },
    async rename(command) {
      const items = [
        findItem(directory, command.old_path, "old_path"),
        findItem(directory, command.new_path, "new_path"),
      ];
      const shared = items.find(isTeams);
      if (!shared) return handlers.rename(command);
      throw new MemdirError("usage", `Nothing was changed: ${shared.shown} is the team's, which people rename`);
    },
  };
}
