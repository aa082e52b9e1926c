/** What a person types, from the keyboard to lines: connects keys, editor, menu and questions to the screen. */

import { echoOf, submittedText } from "./editor.ts";
import { openPlainInput } from "./input-plain.ts";
import {
  clearInput,
  fillInput,
  type Input,
  type InputOptions,
  type InputState,
  pressInput,
  type ReadLine,
  START,
} from "./input-state.ts";
import { INDENT, PROMPT, pressQuestion, type Question, viewInput } from "./input-view.ts";
import { type Key, openKeys } from "./keys.ts";

/** What terminals take between the bytes of one key at most, over a slow line; shorter than a person between two. */
const ESCAPE_MS = 50;

export function openInput(options: InputOptions): Input {
  return options.screen.isDumb ? openPlainInput(options) : openLiveInput(options);
}

function openLiveInput(options: InputOptions): Input {
  const typing = startTyping(options);
  const detach = attach(typing);
  draw(typing);
  return {
    read: () =>
      new Promise((resolve) => {
        typing.reading = resolve;
        const waiting = typing.queued.shift();
        if (waiting) send(typing, waiting);
        else if (typing.ended) leave(typing);
        draw(typing);
      }),
    question: (text, choices) =>
      new Promise((resolve) => {
        if (typing.ended) return resolve(null);
        typing.asked.push({ question: { text, choices, selected: null }, resolve });
        draw(typing);
      }),
    onInterrupt(listener) {
      typing.listeners.add(listener);
      return () => void typing.listeners.delete(listener);
    },
    status(lines) {
      typing.status = lines;
      draw(typing);
    },
    suggest(text) {
      typing.state = fillInput(typing.state, text);
      draw(typing);
    },
    release: (work) => release(typing, work),
    close() {
      detach();
      typing.cancelHint();
      typing.ended = true;
      options.screen.live([], null);
      typing.closed = true;
      leave(typing);
    },
  };
}

/** Listens to the keyboard; returns what ends it. */
function attach(typing: Typing): () => void {
  const { stdin, setTimer, onResize, onSignal } = typing.options;
  const keys = openKeys();
  let cancelFlush = () => {};
  const take = (pressed: readonly Key[]) => {
    for (const key of pressed) pressKey(typing, key);
    if (pressed.length > 0) draw(typing);
  };
  const onData = (bytes: Uint8Array | string) => {
    if (typing.released) return;
    cancelFlush();
    take(keys.feed(bytes));
    if (keys.waiting()) cancelFlush = setTimer(() => take(keys.flush()), ESCAPE_MS);
  };
  const onEnd = () => {
    typing.ended = true;
    leave(typing);
  };
  stdin.setRawMode?.(true);
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  // A terminal that was closed is an error on some systems.
  stdin.on("error", onEnd);
  stdin.resume();
  const ends = [
    onResize?.(() => draw(typing)),
    onSignal?.(() => {
      // Meant for the program that has the terminal.
      if (typing.released) return;
      pressKey(typing, { type: "press", name: "ctrl-c" });
      draw(typing);
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

interface Typing {
  options: InputOptions;
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

function startTyping(options: InputOptions): Typing {
  return {
    options,
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

function draw(typing: Typing): void {
  const { screen, paint, placeholder } = typing.options;
  if (typing.released || typing.closed) return;
  const picture = {
    ...typing,
    question: typing.asked[0]?.question ?? null,
    queued: typing.queued.map(({ shown }) => shown),
    placeholder: typing.reading ? placeholder : "",
  };
  const { lines, cursor } = viewInput(picture, { columns: screen.columns(), rows: screen.rows() }, paint);
  screen.live(lines, cursor);
}

function pressKey(typing: Typing, key: Key): void {
  const { options } = typing;
  const wasTyping = typing.state.editor.text !== "" && options.now() - typing.lastKeyAt < STILL_TYPING_MS;
  const isStop = key.type === "press" && (key.name === "ctrl-c" || key.name === "escape");
  typing.lastKeyAt = options.now();
  const asked = typing.asked[0];
  if (asked && (isStop || !wasTyping)) {
    const { question, answer } = pressQuestion(asked.question, key);
    asked.question = question;
    // Ctrl-C means all of what is asked, the other keys only what is seen.
    const answered = answer === undefined ? 0 : key.type === "press" && key.name === "ctrl-c" ? typing.asked.length : 1;
    for (const { resolve } of typing.asked.splice(0, answered)) resolve(answer ?? null);
    return;
  }
  const { state, outcome } = pressInput(typing.state, key, options);
  typing.state = state;
  if (outcome !== "interrupt") setHint(typing, "");
  if (outcome === "submit") submit(typing);
  else if (outcome === "interrupt") interrupt(typing);
  else if (outcome === "redraw") options.screen.clear();
  else if (outcome === "end" && typing.reading) {
    typing.ended = true;
    leave(typing);
  } else if (outcome === "suspend" && options.suspend) void release(typing, options.suspend).catch(() => {});
}

/** What is sent while something else goes on waits for its turn. */
function submit(typing: Typing): void {
  const text = submittedText(typing.state.editor);
  const shown = echoOf(typing.state.editor);
  typing.state = clearInput(typing.state);
  if (typing.reading) send(typing, { text, shown });
  else typing.queued.push({ text, shown });
}

function send(typing: Typing, { text, shown }: Typing["queued"][number]): void {
  const resolve = typing.reading;
  typing.reading = null;
  const { screen, paint } = typing.options;
  screen.print(`${paint.dim(PROMPT)}${shown.replaceAll("\t", "    ").replaceAll("\n", `\n${INDENT}`)}`);
  resolve?.({ type: "line", text });
}

function interrupt(typing: Typing): void {
  const { now } = typing.options;
  if (!typing.reading && typing.listeners.size > 0) {
    // What waited was meant for after a turn that is no more: back into the box, to be thought about.
    if (typing.queued.length > 0) {
      const typed = submittedText(typing.state.editor);
      const kept = [...typing.queued.map(({ text }) => text), ...(typed === "" ? [] : [typed])];
      typing.queued = [];
      typing.state = fillInput(typing.state, kept.join("\n"));
    }
    for (const listener of [...typing.listeners]) listener();
    return;
  }
  if (typing.state.editor.text !== "") {
    typing.state = clearInput(typing.state);
    return;
  }
  if (now() - typing.lastLeaveAt <= LEAVE_MS) {
    typing.ended = true;
    leave(typing);
    return;
  }
  typing.lastLeaveAt = now();
  setHint(typing, LEAVE_HINT);
}

function setHint(typing: Typing, hint: string): void {
  typing.cancelHint();
  typing.cancelHint = () => {};
  typing.hint = hint;
  if (hint === "") {
    typing.lastLeaveAt = Number.NEGATIVE_INFINITY;
    return;
  }
  typing.cancelHint = typing.options.setTimer(() => {
    typing.hint = "";
    draw(typing);
  }, LEAVE_MS);
}

/** Whatever is asked for ends without an answer. */
function leave(typing: Typing): void {
  for (const { resolve } of typing.asked.splice(0)) resolve(null);
  const resolve = typing.reading;
  typing.reading = null;
  resolve?.({ type: "end" });
}

async function release<T>(typing: Typing, work: () => Promise<T>): Promise<T> {
  const { screen, stdin } = typing.options;
  typing.released = true;
  screen.pause();
  stdin.setRawMode?.(false);
  // Another program reads from the same terminal: we must not take its keys.
  stdin.pause();
  try {
    return await work();
  } finally {
    screen.resume();
    if (!typing.closed) {
      typing.released = false;
      stdin.setRawMode?.(true);
      stdin.resume();
      draw(typing);
    }
  }
}
