/** The model API's memory tool (`memory_20250818`) over a memory directory: handlers for the SDK's `betaMemoryTool`. */

import { realPath } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { Directory } from "../store/store.ts";
import type { Desk } from "./context.ts";
import { deleteFiles, moveFiles } from "./file-move.ts";
import { createFile, editFile } from "./file-write.ts";
import { findPlace, missing, ROOT } from "./place.ts";
import { insertText, replaceText } from "./text-edit.ts";
import { type ImageBlock, MAX_VIEW_CHARS, readPlace, viewFolder, viewImage, viewSnippet, viewText } from "./view.ts";

export type { ImageBlock } from "./view.ts";

export interface MemoryToolOptions {
  /** The longest view, in characters; the API tells the model that it is 16,000. */
  maxViewChars?: number;
  /** The largest file that the model may write. */
  maxFileBytes?: number;
}

/**
 * One handler for each command. What they return goes back to the model; a failure is thrown, in words for the model, and
 * the SDK's runner sends it with `is_error`. Calls may overlap: none loses what another one wrote.
 */
export interface MemoryToolHandlers {
  view(command: { path: string; view_range?: readonly number[] | null }): Promise<string | ImageBlock[]>;
  create(command: { path: string; file_text: string }): Promise<string>;
  /** Without `new_str` the text is taken out. */
  str_replace(command: { path: string; old_str: string; new_str?: string | null }): Promise<string>;
  insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
  delete(command: { path: string }): Promise<string>;
  rename(command: { old_path: string; new_path: string }): Promise<string>;
}

/** Far more than notes need, and little enough to be looked through for secrets. */
const MAX_FILE_BYTES = 8 << 20;

/** `/memories` is the first directory of the Memdir, the one that is written to. */
export function openMemoryTool(memdir: Memdir, options: MemoryToolOptions = {}): MemoryToolHandlers {
  const { maxViewChars = MAX_VIEW_CHARS, maxFileBytes = MAX_FILE_BYTES } = options;
  const [directory] = memdir.directories as [Directory];
  const desk: Desk = { memdir, directory, maxFileBytes };
  const handlers: MemoryToolHandlers = {
    async view({ path, view_range }) {
      const place = findPlace(directory, path);
      if (place.kind === null) throw missing(place.shown, ". Please provide a valid path.");
      if (place.kind === "folder") return viewFolder(place, maxViewChars);
      const data = readPlace(place);
      const image = viewImage(place, data);
      if (image) return [image];
      if (data.includes(0)) throw new MemdirError("usage", `Unsupported file type for ${place.shown}: it is no text`);
      return viewText(place, data.toString("utf8"), view_range, maxViewChars);
    },
    async create({ path, file_text }) {
      const { shown } = await createFile(desk, path, textOf(file_text, "file_text"));
      return `File created successfully at: ${shown}`;
    },
    async str_replace({ path, old_str, new_str }) {
      const [wanted, put] = [textOf(old_str, "old_str"), textOf(new_str ?? "", "new_str")];
      const { text, first, last } = await editFile(desk, path, (before, { shown }) =>
        replaceText(before, wanted, put, shown),
      );
      const snippet = viewSnippet(text, first, last, maxViewChars);
      return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`;
    },
    async insert({ path, insert_line, insert_text }) {
      const put = textOf(insert_text, "insert_text");
      const { shown } = await editFile(desk, path, (before, place) => ({
        ...insertText(before, insert_line, put),
        shown: place.shown,
      }));
      return `The file ${shown} has been edited.`;
    },
    async delete({ path }) {
      const { shown } = await deleteFiles(desk, path);
      return `Successfully deleted ${shown}`;
    },
    async rename({ old_path, new_path }) {
      const { from, to } = await moveFiles(desk, old_path, new_path);
      return `Successfully renamed ${from.shown} to ${to.shown}`;
    },
  };
  return tellTheModel(handlers, directory);
}

/** The model's input is not checked by the SDK. Half a character cannot be kept in a file. */
function textOf(value: unknown, field: string): string {
  if (typeof value === "string") return value.toWellFormed();
  throw new MemdirError("usage", `\`${field}\` must be a text`);
}

/** The handlers with failures in the model's terms: it knows `/memories`, and nothing of this machine's folders. */
function tellTheModel(handlers: MemoryToolHandlers, { path }: Directory): MemoryToolHandlers {
  const told =
    <C, R>(handle: (command: C) => Promise<R>) =>
    async (command: C): Promise<R> => {
      try {
        return await handle(command);
      } catch (error) {
        if (!(error instanceof MemdirError) && !(error as NodeJS.ErrnoException)?.code) throw error;
        const failed = diskError(error, "use", path);
        const message = failed.message.replaceAll(path, ROOT).replaceAll(realPath(path), ROOT);
        throw new MemdirError(failed.code, message, { cause: error, details: failed.details });
      }
    };
  return {
    view: told(handlers.view),
    create: told(handlers.create),
    str_replace: told(handlers.str_replace),
    insert: told(handlers.insert),
    delete: told(handlers.delete),
    rename: told(handlers.rename),
  };
}
