/** The commands of the memory tool: what each takes, and what the model gets back. */

import type { ImageBlock } from "./view.ts";

/**
 * One handler for each command. What they return goes back to the model; a failure is thrown, in words for the model, and
 * the SDK's runner sends it with `is_error`. Calls may overlap: none loses what another one wrote.
 */
export interface MemoryToolHandlers {
  /** A file with numbered lines, an image, or what a folder holds. */
  view(command: { path: string; view_range?: readonly number[] | null }): Promise<string | ImageBlock[]>;
  /** A new file; one that exists is refused. */
  create(command: { path: string; file_text: string }): Promise<string>;
  /** Without `new_str` the text is removed. */
  str_replace(command: { path: string; old_str: string; new_str?: string | null }): Promise<string>;
  /** Inserts after a line; 0 is the top. */
  insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
  /** Deletes a file, or a folder with everything in it. */
  delete(command: { path: string }): Promise<string>;
  /** Moves a file or folder; a destination that exists is refused. */
  rename(command: { old_path: string; new_path: string }): Promise<string>;
}
