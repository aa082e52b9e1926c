/** The commands of the memory tool: what each takes, and what the model gets back. */

import type { ImageBlock } from "./view.ts";

/**
 * One handler for each command. What they return goes back to the model; a failure is thrown, in words for the model, and
 * the SDK's runner sends it with `is_error`. Calls may overlap: none loses what another one wrote.
 */
export interface MemoryToolHandlers {
  view(command: { path: string; view_range?: readonly number[] | null }): Promise<string | ImageBlock[]>;
  create(command: { path: string; file_text: string }): Promise<string>;
  /** Without `new_str` the text is removed. */
  str_replace(command: { path: string; old_str: string; new_str?: string | null }): Promise<string>;
  insert(command: { path: string; insert_line: number; insert_text: string }): Promise<string>;
  delete(command: { path: string }): Promise<string>;
  rename(command: { old_path: string; new_path: string }): Promise<string>;
}
