/** What the tools work on: where they are, what they may see, whom they ask, and whom they tell. */

import type { FileState } from "../session/file-state.ts";
import type { Permit } from "./permission.ts";

export type ToolName = "Read" | "Write" | "Edit" | "Glob" | "Grep" | "Bash";

export interface Workbench {
  /** Absolute and real. Relative paths start here; with a fence that it does not lie in, they start at the fence. */
  cwd: string;
  /** Only this directory exists for the tools, and in it nothing is asked. Bash is not offered. Null: the whole machine, with permission. */
  fence: string | null;
  /** Reading below these needs no permission. */
  readable: readonly string[];
  files: FileState;
  history: History | null;
  permit: Permit;
  /** For commands. What looks like a secret is not handed on. */
  env: Readonly<Record<string, string | undefined>>;
  /** A file was read or written, or a command was run. */
  onTouch: (touch: { path: string } | { command: string }) => void;
  store: Store | null;
}

/** Keeps what a file was like before it is changed. */
interface History {
  before(path: string): void;
  after(path: string): void;
}

/** Files that are written through somebody who knows what they are. It is asked with real paths. */
interface Store {
  owns(path: string): boolean;
  /** `base` is the text that the new one was made from; null for a new file. */
  write(path: string, text: string, base: string | null): Promise<{ notices: string[] }>;
  /** What a reader should know about a file. */
  remark(path: string): string | null;
}
