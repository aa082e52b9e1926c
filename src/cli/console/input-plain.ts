/** The input where nothing can be redrawn: whole lines, as the terminal itself lets them be typed. */

import { createInterface } from "node:readline";
import { sanitise } from "../../text/sanitise.ts";
import { type Input, type InputOptions, PROMPT } from "./input-view.ts";

export function openPlainInput({ stdin, screen, onSignal }: InputOptions): Input {
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  let ended = false;
  let reading: ((line: string | null) => void) | null = null;
  const serve = () => {
    if (!reading || (lines.length === 0 && !ended)) return;
    const resolve = reading;
    reading = null;
    resolve(lines.shift() ?? null);
  };
  const source = createInterface({ input: stdin, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  source.on("line", (line) => {
    lines.push(sanitise(line, "\t"));
    serve();
  });
  source.on("close", () => {
    ended = true;
    serve();
  });
  const read = () =>
    new Promise<string | null>((resolve) => {
      screen.live([PROMPT], null);
      reading = resolve;
      serve();
    });
  const endSignal = onSignal?.(() => {
    // With nothing to interrupt there is nothing to wait for either.
    if (reading) source.close();
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
