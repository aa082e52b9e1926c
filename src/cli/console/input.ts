/** What a person types, from the keyboard to lines: wires keys, editor, menu and questions to the screen. */

import { type Desk, draw, leave, openDesk, pressKey, release, send } from "./input-desk.ts";
import { openPlainInput } from "./input-plain.ts";
import { fillInput } from "./input-state.ts";
import type { Input, InputWorld } from "./input-world.ts";
import { type Key, openKeys } from "./keys.ts";

export type { Input, InputWorld, ReadLine } from "./input-world.ts";

/** What terminals take between the bytes of one key at most, over a slow line; shorter than a person between two. */
const ESCAPE_MS = 50;
export function openInput(world: InputWorld): Input {
  return world.screen.isDumb ? openPlainInput(world) : openLiveInput(world);
}

function openLiveInput(world: InputWorld): Input {
  const desk = openDesk(world);
  const detach = attach(desk);
  draw(desk);
  return {
    read: () =>
      new Promise((resolve) => {
        desk.reading = resolve;
        const waiting = desk.queued.shift();
        if (waiting) send(desk, waiting);
        else if (desk.ended) leave(desk);
        draw(desk);
      }),
    question: (text, choices) =>
      new Promise((resolve) => {
        if (desk.ended) return resolve(null);
        desk.asked.push({ question: { text, choices, selected: null }, resolve });
        draw(desk);
      }),
    onInterrupt(listener) {
      desk.listeners.add(listener);
      return () => void desk.listeners.delete(listener);
    },
    status(lines) {
      desk.status = lines;
      draw(desk);
    },
    suggest(text) {
      desk.state = fillInput(desk.state, text);
      draw(desk);
    },
    release: (work) => release(desk, work),
    redraw: () => draw(desk),
    close() {
      detach();
      desk.cancelHint();
      desk.ended = true;
      world.screen.live([], null);
      desk.closed = true;
      leave(desk);
    },
  };
}

/** Listens to the keyboard; returns what ends it. */
function attach(desk: Desk): () => void {
  const { stdin, setTimer, onResize, onSignal } = desk.world;
  const keys = openKeys();
  let cancelFlush = () => {};
  const take = (pressed: readonly Key[]) => {
    for (const key of pressed) pressKey(desk, key);
    if (pressed.length > 0) draw(desk);
  };
  const onData = (bytes: Uint8Array | string) => {
    if (desk.released) return;
    cancelFlush();
    take(keys.feed(bytes));
    if (keys.waiting()) cancelFlush = setTimer(() => take(keys.flush()), ESCAPE_MS);
  };
  const onEnd = () => {
    desk.ended = true;
    leave(desk);
  };
  stdin.setRawMode?.(true);
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  // A terminal that was closed is an error on some systems.
  stdin.on("error", onEnd);
  stdin.resume();
  const ends = [
    onResize?.(() => draw(desk)),
    onSignal?.(() => {
      // Meant for the program that has the terminal.
      if (desk.released) return;
      pressKey(desk, { type: "press", name: "ctrl-c" });
      draw(desk);
    }),
  ];
  return () => {
    cancelFlush();
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    stdin.setRawMode?.(false);
    stdin.pause();
    for (const end of ends) end?.();
  };
}
