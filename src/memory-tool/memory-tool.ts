/** The model API's memory tool (`memory_20250818`) over a memory directory: handlers for the SDK's `betaMemoryTool`. */

import { realPath } from "../disk/fence.ts";
import { diskError, isObject, MemdirError } from "../errors.ts";
import { checkOpened, type Memdir } from "../memdir.ts";
import type { Store } from "../store/store.ts";
import { createFile, deleteFiles, editFile, insertText, moveFiles, replaceText, type TextEdit } from "./files.ts";
import { findFreeItem, findItem, type Item, missing, ROOT } from "./item.ts";
import { type ImageBlock, MAX_VIEW_CHARS, readItem, viewFolder, viewImage, viewSnippet, viewText } from "./view.ts";

export type { ImageBlock } from "./view.ts";

/**
 * One handler per command. What they return goes back to the model. Failures are thrown, worded for the model, and the
 * SDK's runner sends them with `is_error`. Calls may overlap: none loses what another one wrote.
 */
export interface MemoryToolHandlers {
  /** Shows a file with numbered lines, an image, or the contents of a folder. */
  view(command: { path: string; view_range?: readonly number[] | null }): Promise<string | ImageBlock[]>;
  /** Creates a file; refuses one that exists. */
  create(command: { path: string; file_text: string }): Promise<string>;
  /** Replaces text; without `new_str`, removes it. */
  str_replace(command: { path: string; old_str: string; new_str?: string | null }): Promise<string>;
  /** Inserts text after a line; 0 is the top. */
  insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
  /** Deletes a file, or a folder with everything in it. */
  delete(command: { path: string }): Promise<string>;
  /** Moves a file or folder; refuses a destination that exists. */
  rename(command: { old_path: string; new_path: string }): Promise<string>;
}

/** Limits of the memory tool. */
export interface MemoryToolOptions {
  /** The longest view, in characters; the API gives the model a limit of 16,000. */
  maxViewChars?: number | undefined;
  /** The largest file that the model may write. */
  maxFileBytes?: number | undefined;
}

/** Far more than notes need, and small enough to scan for secrets. */
const MAX_FILE_BYTES = 8 << 20;

/** Opens the memory tool. `/memories` is the first directory of the Memdir, the one that is written to. */
export function openMemoryTool(memdir: Memdir, options: MemoryToolOptions = {}): MemoryToolHandlers {
  checkOpened("openMemoryTool", memdir);
  const { maxViewChars = MAX_VIEW_CHARS, maxFileBytes = MAX_FILE_BYTES } = options ?? {};
  const [directory] = memdir.directories as [Store];
  /** What guards the team's files is loaded with the first command that writes. */
  const openTeam = async () => (await import("./team.ts")).openTeam(memdir, maxFileBytes);
  /** What became of it; the words for the model where the team decides. */
  const edit = async (path: unknown, change: (before: string, item: Item) => TextEdit) => {
    const team = await openTeam();
    return team.has(findItem(directory, path))
      ? team.edit(path, change)
      : editFile(directory, path, maxFileBytes, (before, item) => ({ ...change(before, item), shown: item.shown }));
  };
  const handlers: MemoryToolHandlers = {
    async view({ path, view_range }) {
      const item = findItem(directory, path);
      if (item.kind === null) throw missing(item.shown, ". Please provide a valid path.");
      if (item.kind === "folder") return viewFolder(item, maxViewChars);
      const data = readItem(item);
      const image = viewImage(item, data);
      if (image) return [image];
      if (data.includes(0)) throw new MemdirError("usage", `Unsupported file type for ${item.shown}: it is not text`);
      return viewText(item, data.toString("utf8"), view_range, maxViewChars);
    },
    async create({ path, file_text }) {
      const team = await openTeam();
      const item = findFreeItem(directory, path);
      const text = textOf(file_text, "file_text");
      if (team.has(item)) return team.create(item, text);
      const { shown } = await createFile(directory, path, text, maxFileBytes);
      return `File created successfully at: ${shown}`;
    },
    async str_replace({ path, old_str, new_str }) {
      const [wanted, put] = [textOf(old_str, "old_str"), textOf(new_str ?? "", "new_str")];
      const edited = await edit(path, (before, { shown }) => replaceText(before, wanted, put, shown));
      if (typeof edited === "string") return edited;
      const snippet = viewSnippet(edited.text, edited.first, edited.last, maxViewChars);
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
    },
    async insert({ path, insert_line, insert_text }) {
      const put = textOf(insert_text, "insert_text");
      const edited = await edit(path, (before) => insertText(before, insert_line, put));
      return typeof edited === "string" ? edited : `The file ${edited.shown} has been edited.`;
    },
    async delete({ path }) {
      const team = await openTeam();
      const item = findItem(directory, path);
      if (item.file !== "" && team.has(item)) return team.remove(item);
      const { shown } = await deleteFiles(directory, path);
      return `Successfully deleted ${shown}`;
    },
    async rename({ old_path, new_path }) {
      const team = await openTeam();
      const items = [findItem(directory, old_path, "old_path"), findItem(directory, new_path, "new_path")];
      const shared = items.find(team.has);
      if (shared)
        throw new MemdirError("usage", `Nothing was changed: ${shared.shown} is the team's, which people rename`);
      const { from, to } = await moveFiles(directory, old_path, new_path);
      return `Successfully renamed ${from.shown} to ${to.shown}`;
    },
  };
  return explainToModel(handlers, directory);
}

/** The model's input is not checked by the SDK. Half a character cannot be kept in a file. */
function textOf(value: unknown, field: string): string {
  if (typeof value !== "string") throw new MemdirError("usage", `\`${field}\` must be a string`);
  if (value.isWellFormed()) return value;
  throw new MemdirError("usage", `\`${field}\` contains half a character (a lone surrogate): write it again without`);
}

/** Puts the errors of the handlers into the model's terms: it knows `/memories` and none of this machine's folders. */
function explainToModel(handlers: MemoryToolHandlers, { path }: Store): MemoryToolHandlers {
  const explained =
    (handle: (command: never) => Promise<unknown>) =>
    async (command: never): Promise<unknown> => {
      try {
        if (!isObject(command))
          throw new MemdirError("usage", 'the command must be an object, such as { path: "/memories" }');
        return await handle(command);
      } catch (error) {
        if (!(error instanceof MemdirError) && !(error as NodeJS.ErrnoException)?.code) throw error;
        const failed = diskError(error, "use", path);
        const message = failed.message.replaceAll(path, ROOT).replaceAll(realPath(path), ROOT);
        throw new MemdirError(failed.code, message, { cause: error, details: failed.details });
      }
    };
  const wrapped = Object.entries(handlers).map(([command, handle]) => [command, explained(handle)]);
  return Object.fromEntries(wrapped) as MemoryToolHandlers;
}
