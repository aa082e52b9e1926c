/** The input where nothing can be redrawn: whole lines, as the terminal itself lets them be typed. */

import { createInterface } from "node:readline";
import { sanitise } from "../../text/sanitise.ts";
import { type Input, type InputOptions, PROMPT } from "./input-view.ts";

export function openPlainInput({ stdin, screen, onSignal }: InputOptions): Input {
  const source = createInterface({ input: stdin, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const lines = source[Symbol.asyncIterator]();
  const listeners = new Set<() => void>();
  let isReading = false;
  const read = async () => {
    screen.live([PROMPT], null);
    isReading = true;
    const { done, value } = await lines.next();
    isReading = false;
    return done ? null : sanitise(value, "\t");
  };
  const endSignal = onSignal?.(() => {
    // With nothing to interrupt there is nothing to wait for either.
    if (isReading) source.close();
    else for (const listener of [...listeners]) listener();
  });
  return {
    read,
    async question(text, choices) {
      const list = choices.map(({ key, label }) => `  ${key}  ${label}`).join("\n");
      screen.print(sanitise(`${text}\n${list}`));
      const typed = (await read())?.trim().toLowerCase();
      return choices.find(({ key }) => key.toLowerCase() === typed)?.key ?? null;
    },
    onInterrupt(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    status() {},
    // Nothing can be put into a line that the terminal holds: it is shown, to be typed.
    suggest: (text) => screen.print(sanitise(text)),
    release: (work) => work(),
    close() {
      endSignal?.();
      source.close();
    },
  };
}
