/** The commands of the memory tool: what each takes, and what the model gets back. */

import type { ImageBlock } from "./view.ts";

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
