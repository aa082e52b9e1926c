/** The input where nothing can be redrawn: whole lines, as the terminal itself lets them be typed. */

import { StringDecoder } from "node:string_decoder";
import { sanitise } from "../../text/sanitise.ts";
import type { Input, InputOptions, ReadLine } from "./input-state.ts";
import { PROMPT } from "./input-view.ts";

export function openPlainInput({ stdin, screen, onSignal }: InputOptions): Input {
  const decoder = new StringDecoder("utf8");
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  let unfinished = "";
  let ended = false;
  let reading: ((line: ReadLine) => void) | null = null;

  const serve = () => {
    if (!reading || (lines.length === 0 && !ended)) return;
    const resolve = reading;
    const text = lines.shift();
    reading = null;
    resolve(text === undefined ? { type: "end" } : { type: "line", text });
  };
  const onData = (bytes: Uint8Array | string) => {
    const parts = (unfinished + (typeof bytes === "string" ? bytes : decoder.write(Buffer.from(bytes)))).split("\n");
    unfinished = parts.pop() ?? "";
    for (const part of parts) lines.push(sanitise(part.replace(/\r$/, ""), "\t"));
    serve();
  };
  const onEnd = () => {
    if (unfinished !== "") lines.push(sanitise(unfinished, "\t"));
    unfinished = "";
    ended = true;
    serve();
  };
  const read = (prompt: string) =>
    new Promise<ReadLine>((resolve) => {
      screen.stream(prompt);
      reading = resolve;
      serve();
    });
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  stdin.resume();
  const endSignal = onSignal?.(() => {
    // With nobody to interrupt there is nothing to wait for either.
    if (reading) onEnd();
    else for (const listener of [...listeners]) listener();
  });
  return {
    read: () => read(PROMPT),
    async question(text, choices) {
      const list = choices.map(({ key, label }) => `  ${key}  ${label}`).join("\n");
      screen.print(sanitise(`${text}\n${list}`));
      const line = await read(PROMPT);
      if (line.type === "end") return null;
      return choices.find(({ key }) => key.toLowerCase() === line.text.trim().toLowerCase())?.key ?? null;
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
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.pause();
      endSignal?.();
      ended = true;
      serve();
    },
  };
}
