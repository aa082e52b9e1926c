/** A call of another agent's tool, taken apart: hosts name the same things differently. */

export interface ToolCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
}

const PATCH_FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** The files that a call says it reads or changes, as it writes them: alone, or in a patch. */
export function namedFiles(input: ToolCall["input"]): string[] {
  const named = [input.file_path, input.notebook_path, input.path, input.filePath, input.absolute_path];
  const inPatch = [...patchOf(input).matchAll(PATCH_FILE)].map(([, file]) => file);
  return [...named, ...inPatch].filter((file) => typeof file === "string");
}

/** "" for none. Which of the texts is a patch, only the text says. */
export function patchOf({ input, patch, command }: ToolCall["input"]): string {
  return String([input, patch, command].find((text) => typeof text === "string") ?? "");
}

export function isPatch(text: string): boolean {
  return text.includes("*** Begin Patch");
}

/** A line for a shell; "" for none. */
export function commandOf({ command, cmd }: ToolCall["input"]): string {
  const parts: unknown[] = [command ?? cmd].flat();
  return parts.filter((part) => typeof part === "string").join(" ");
}
