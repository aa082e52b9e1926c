/** The model API's memory tool (`memory_20250818`) over a memory directory: handlers for the SDK's `betaMemoryTool`. */

import { realPath } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { checkOpened, type Memdir } from "../memdir.ts";
import type { Store } from "../store/store.ts";
import type { MemoryToolHandlers } from "./commands.ts";
import { createFile, deleteFiles, editFile, insertText, moveFiles, replaceText } from "./files.ts";
import { findItem, missing, ROOT } from "./item.ts";
import { MAX_VIEW_CHARS, readItem, viewFolder, viewImage, viewSnippet, viewText } from "./view.ts";

export type { MemoryToolHandlers } from "./commands.ts";
export type { ImageBlock } from "./view.ts";

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
      const { shown } = await createFile(directory, path, textOf(file_text, "file_text"), maxFileBytes);
      return `File created successfully at: ${shown}`;
    },
    async str_replace({ path, old_str, new_str }) {
      const [wanted, put] = [textOf(old_str, "old_str"), textOf(new_str ?? "", "new_str")];
      const { text, first, last } = await editFile(directory, path, maxFileBytes, (before, { shown }) =>
        replaceText(before, wanted, put, shown),
      );
      const snippet = viewSnippet(text, first, last, maxViewChars);
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
    },
    async insert({ path, insert_line, insert_text }) {
      const put = textOf(insert_text, "insert_text");
      const { shown } = await editFile(directory, path, maxFileBytes, (before, item) => ({
        ...insertText(before, insert_line, put),
        shown: item.shown,
      }));
      return `The file ${shown} has been edited.`;
    },
    async delete({ path }) {
      const { shown } = await deleteFiles(directory, path);
      return `Successfully deleted ${shown}`;
    },
    async rename({ old_path, new_path }) {
      const { from, to } = await moveFiles(directory, old_path, new_path);
      return `Successfully renamed ${from.shown} to ${to.shown}`;
    },
  };
  const guarded = openLate(async () => {
    const { withTeam } = await import("./team.ts");
    return { ...handlers, ...withTeam(handlers, memdir, maxFileBytes) };
  });
  return explainToModel({ ...handlers, ...guarded }, directory);
}

/** The commands that write: what guards the team's files is loaded with the first of them. */
function openLate(open: () => Promise<MemoryToolHandlers>): Omit<MemoryToolHandlers, "view"> {
  return {
    create: async (command) => (await open()).create(command),
    str_replace: async (command) => (await open()).str_replace(command),
    insert: async (command) => (await open()).insert(command),
    delete: async (command) => (await open()).delete(command),
    rename: async (command) => (await open()).rename(command),
  };
}

/** The model's input is not checked by the SDK. Half a character cannot be kept in a file. */
function textOf(value: unknown, field: string): string {
  if (typeof value !== "string") throw new MemdirError("usage", `\`${field}\` must be a text`);
  if (value.isWellFormed()) return value;
  throw new MemdirError("usage", `\`${field}\` contains half a character (a lone surrogate): write it again without`);
}

/** Puts the errors of the handlers into the model's terms: it knows `/memories` and none of this machine's folders. */
function explainToModel(handlers: MemoryToolHandlers, { path }: Store): MemoryToolHandlers {
  const explained =
    (handle: (command: never) => Promise<unknown>) =>
    async (command: never): Promise<unknown> => {
      try {
        if (typeof command !== "object" || command === null)
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
