/** The `{{memory}}` placeholder of a host's prompt. */

const PLACEHOLDER = /\{\{ *memory *\}\}/g;

/** A function as replacement: in a string, `$&` or `$1` of a memory would be read as a pattern. What is inserted is not searched again. */
export function substituteMemory(prompt: string, section: string): string {
  return prompt.replace(PLACEHOLDER, () => section);
}
