/** What lies on the table while a person types: the text, what is asked, what waits; and what becomes of each key. */

import { submittedText } from "./editor.ts";
import { echoOf } from "./editor-view.ts";
import { clearInput, fillInput, type InputState, pressInput, START } from "./input-state.ts";
import { INDENT, PROMPT, viewInput } from "./input-view.ts";
import type { InputWorld, ReadLine } from "./input-world.ts";
import type { Key } from "./key-names.ts";
import { pressQuestion, type Question } from "./question.ts";

export interface Desk {
  world: InputWorld;
  state: InputState;
  /** The first is on the screen, the others wait for its answer. */
  asked: { question: Question; resolve(key: string | null): void }[];
  status: readonly string[];
  /** What was sent before it was asked for: the text, and how it is shown. */
  queued: { text: string; shown: string }[];
  hint: string;
  /** The person left, or the keyboard is gone. */
  ended: boolean;
  reading: ((line: ReadLine) => void) | null;
  listeners: Set<() => void>;
  lastKeyAt: number;
  lastLeaveAt: number;
  /** Another program has the terminal. */
  released: boolean;
  closed: boolean;
  cancelHint: () => void;
}

/** Two presses within it mean it. */
const LEAVE_MS = 2000;
/** Who typed until just now may still be typing when a question comes up: such keys are no answers. */
const STILL_TYPING_MS = 700;
const LEAVE_HINT = "Ctrl-C again leaves";

export function openDesk(world: InputWorld): Desk {
  return {
    world,
    state: START,
    asked: [],
    status: [],
    queued: [],
    hint: "",
    ended: false,
    reading: null,
    listeners: new Set(),
    lastKeyAt: Number.NEGATIVE_INFINITY,
    lastLeaveAt: Number.NEGATIVE_INFINITY,
    released: false,
    closed: false,
    cancelHint: () => {},
  };
}

export function draw(desk: Desk): void {
  const { screen, paint, placeholder } = desk.world;
  if (desk.released || desk.closed) return;
  const picture = {
    ...desk,
    question: desk.asked[0]?.question ?? null,
    queued: desk.queued.map(({ shown }) => shown),
    placeholder: desk.reading ? placeholder : "",
  };
  const { lines, cursor } = viewInput(picture, { columns: screen.columns(), rows: screen.rows() }, paint);
  screen.live(lines, cursor);
}

export function pressKey(desk: Desk, key: Key): void {
  const { world } = desk;
  const wasTyping = desk.state.editor.text !== "" && world.now() - desk.lastKeyAt < STILL_TYPING_MS;
  const isStop = key.type === "press" && (key.name === "ctrl-c" || key.name === "escape");
  desk.lastKeyAt = world.now();
  const asked = desk.asked[0];
  if (asked && (isStop || !wasTyping)) {
    const { question, answer } = pressQuestion(asked.question, key);
    asked.question = question;
    // Ctrl-C means all of what is asked, the other keys only what is seen.
    const answered = answer === undefined ? 0 : key.type === "press" && key.name === "ctrl-c" ? desk.asked.length : 1;
    for (const { resolve } of desk.asked.splice(0, answered)) resolve(answer ?? null);
    return;
  }
  const sources = { completions: world.completions, prompts: world.history.prompts };
  const { state, outcome } = pressInput(desk.state, key, sources);
  desk.state = state;
  if (outcome !== "interrupt") setHint(desk, "");
  if (outcome === "submit") submit(desk);
  else if (outcome === "interrupt") interrupt(desk);
  else if (outcome === "redraw") world.screen.clear();
  else if (outcome === "end" && desk.reading) {
    desk.ended = true;
    leave(desk);
  } else if (outcome === "suspend" && world.suspend) void release(desk, world.suspend).catch(() => {});
}

/** What is sent while something else goes on waits for its turn. */
function submit(desk: Desk): void {
  const text = submittedText(desk.state.editor);
  const shown = echoOf(desk.state.editor);
  desk.state = clearInput(desk.state);
  if (desk.reading) send(desk, { text, shown });
  else desk.queued.push({ text, shown });
}

export function send(desk: Desk, { text, shown }: Desk["queued"][number]): void {
  const resolve = desk.reading;
  desk.reading = null;
  const { screen, paint } = desk.world;
  screen.print(`${paint.dim(PROMPT)}${shown.replaceAll("\t", "    ").replaceAll("\n", `\n${INDENT}`)}`);
  resolve?.({ type: "line", text });
}

function interrupt(desk: Desk): void {
  const { now } = desk.world;
  if (!desk.reading && desk.listeners.size > 0) {
    // What waited was meant for after a turn that is no more: back into the box, to be thought about.
    if (desk.queued.length > 0) {
      const typed = submittedText(desk.state.editor);
      const kept = [...desk.queued.map(({ text }) => text), ...(typed === "" ? [] : [typed])];
      desk.queued = [];
      desk.state = fillInput(desk.state, kept.join("\n"));
    }
    for (const listener of [...desk.listeners]) listener();
    return;
  }
  if (desk.state.editor.text !== "") {
    desk.state = clearInput(desk.state);
    return;
  }
  if (now() - desk.lastLeaveAt <= LEAVE_MS) {
    desk.ended = true;
    leave(desk);
    return;
  }
  desk.lastLeaveAt = now();
  setHint(desk, LEAVE_HINT);
}

function setHint(desk: Desk, hint: string): void {
  desk.cancelHint();
  desk.cancelHint = () => {};
  desk.hint = hint;
  if (hint === "") {
    desk.lastLeaveAt = Number.NEGATIVE_INFINITY;
    return;
  }
  desk.cancelHint = desk.world.setTimer(() => {
    desk.hint = "";
    draw(desk);
  }, LEAVE_MS);
}

/** Whatever is asked for ends without an answer. */
export function leave(desk: Desk): void {
  for (const { resolve } of desk.asked.splice(0)) resolve(null);
  const resolve = desk.reading;
  desk.reading = null;
  resolve?.({ type: "end" });
}

export async function release<T>(desk: Desk, work: () => Promise<T>): Promise<T> {
  const { screen, stdin } = desk.world;
  desk.released = true;
  screen.pause();
  stdin.setRawMode?.(false);
  // Another program reads from the same terminal: we must not take its keys.
  stdin.pause();
  try {
    return await work();
  } finally {
    screen.resume();
    if (!desk.closed) {
      desk.released = false;
      stdin.setRawMode?.(true);
      stdin.resume();
      draw(desk);
    }
  }
}
