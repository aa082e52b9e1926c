/** What a person types, from the keyboard to lines: the text with its completions, history and search, and questions. */

import { graphemes } from "../../text/wrap.ts";
import type { Choice } from "../../verb.ts";
import type { Terminal } from "../terminal.ts";
import { EMPTY, echoOf, press, replaceBefore, submittedText, withoutText, withText } from "./editor.ts";
import { type Completion, type InputOptions, PROMPT, type Typing, viewInput } from "./input-view.ts";
import { type Key, type KeyName, openKeys } from "./keys.ts";
import { findPrompt, searchPrompts } from "./prompt-history.ts";

/** How long terminals take between the bytes of one key at most, over a slow line; shorter than a person between two. */
const ESCAPE_MS = 50;
/** Two presses within it mean it. */
const LEAVE_MS = 2000;
/** Who typed until just now may still be typing when a question comes up: such keys are no answers. */
const STILL_TYPING_MS = 700;

/** Nothing begun with the text. */
const FRESH = { menu: null, walk: null, search: null };
const START = {
  ...FRESH,
  editor: EMPTY,
  leaving: null,
  reading: null,
  lastKeyAt: -Infinity,
  ended: false,
  released: false,
};

export function openInput(options: InputOptions) {
  const typing: Typing = { ...START, options, asked: [], status: [], queued: [], listeners: new Set() };
  const detach = attach(typing);
  draw(typing);
  return {
    /** The next line that was sent, also one sent before it was asked for; null when the person leaves. One at a time. */
    read: () =>
      new Promise<string | null>((resolve) => {
        typing.reading = resolve;
        const waiting = typing.queued.shift();
        if (waiting) send(typing, waiting);
        else if (typing.ended) end(typing);
        draw(typing);
      }),
    /** The key of the answer; null when the person wants none of them. Questions asked at once are shown one after the other. */
    question: (text: string, choices: readonly Choice[]) =>
      new Promise<string | null>((resolve) => {
        if (typing.ended) return resolve(null);
        typing.asked.push({ text, choices, selected: -1, resolve });
        draw(typing);
      }),
    /** Called on Ctrl-C while no line is asked for. Returns what ends the listening. */
    onInterrupt(listener: () => void) {
      typing.listeners.add(listener);
      return () => void typing.listeners.delete(listener);
    },
    /** Lines above the input, such as the spinner; each is cut to the width. */
    status(lines: readonly string[]) {
      typing.status = lines;
      draw(typing);
    },
    /** Puts words into the input, to be changed and sent. */
    suggest(text: string) {
      fill(typing, text);
      draw(typing);
    },
    /** Gives the terminal to another program, such as an editor, until the work is done. */
    release: <T>(work: () => Promise<T>) => release(typing, work),
    /** Takes the input from the screen and ends raw mode; what is asked for ends. The screen stays open. */
    close() {
      detach();
      setLeaving(typing, false);
      options.screen.live([], null);
      typing.released = true;
      end(typing);
    },
  };
}

/** A question with yes or no; null when the person wants neither. */
export function askBy(question: Terminal["choose"]) {
  const choices = [
    { key: "y", label: "yes" },
    { key: "n", label: "no" },
  ];
  return async (text: string): Promise<boolean | null> => {
    const key = await question(text, choices);
    return key === null ? null : key === "y";
  };
}

/** Listens to the keyboard; returns what ends it. */
function attach(typing: Typing): () => void {
  const { stdin, setTimer, onResize, onSignal } = typing.options;
  const keys = openKeys();
  let cancelFlush = () => {};
  const take = (pressed: readonly Key[]) => {
    if (typing.released) return;
    for (const key of pressed) pressKey(typing, key);
    if (pressed.length > 0) draw(typing);
  };
  const onData = (bytes: Uint8Array | string) => {
    if (typing.released) return;
    cancelFlush();
    take(keys.feed(bytes));
    if (keys.waiting()) cancelFlush = setTimer(() => take(keys.flush()), ESCAPE_MS);
  };
  const onEnd = () => end(typing);
  stdin.setRawMode?.(true);
  // A terminal that was closed is an error on some systems.
  stdin.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
  const ends = [onResize?.(() => draw(typing)), onSignal?.(() => take([{ type: "press", name: "ctrl-c" }]))];
  return () => {
    cancelFlush();
    stdin.off("data", onData).off("end", onEnd);
    stdin.setRawMode?.(false);
    stdin.pause();
    for (const stop of ends) stop?.();
  };
}

function draw(typing: Typing): void {
  if (typing.released) return;
  const { lines, cursor } = viewInput(typing);
  typing.options.screen.live(lines, cursor);
}

function pressKey(typing: Typing, key: Key) {
  const { now } = typing.options;
  const wasTyping = typing.editor.text !== "" && now() - typing.lastKeyAt < STILL_TYPING_MS;
  const name = key.type === "press" ? key.name : null;
  typing.lastKeyAt = now();
  if (typing.asked.length > 0 && (name === "ctrl-c" || name === "escape" || !wasTyping))
    return pressQuestion(typing, key);
  if (name !== "ctrl-c") setLeaving(typing, false);
  if (typing.search) return pressSearch(typing, typing.search, key);
  if (typing.menu && name && pressMenu(typing, typing.menu, name)) return;
  const editor = press(typing.editor, key);
  if (!editor) return name ? ACTS[name]?.(typing, name) : undefined;
  const { text, cursor } = typing.editor;
  typing.editor = editor;
  if (editor.text !== text) {
    typing.walk = null;
    // Open by itself while a command is typed, and as long as Tab opened it.
    typing.menu = editor.text.startsWith("/") || typing.menu ? menuOf(typing) : null;
  } else if (editor.cursor !== cursor) typing.menu = null;
}

const STEPS: Partial<Record<KeyName, 1 | -1>> = { up: -1, down: 1, tab: 1, "shift-tab": -1, "ctrl-p": -1, "ctrl-n": 1 };

/** Enter alone, perhaps meant for something else, answers nothing. */
function pressQuestion({ asked }: Typing, key: Key) {
  const [question] = asked;
  if (!question || key.type === "paste") return;
  const { choices, selected } = question;
  const answer = (value: string | null, count = 1) => {
    for (const { resolve } of asked.splice(0, count)) resolve(value);
  };
  if (key.type === "text") {
    const same = (one: Choice) => one.key.toLowerCase() === key.text.toLowerCase();
    const typed = choices.find((one) => one.key === key.text) ?? choices.find(same);
    if (typed) answer(typed.key);
    return;
  }
  // Ctrl-C means all of what is asked, the other keys only what is seen.
  if (key.name === "ctrl-c") return answer(null, asked.length);
  if (key.name === "escape" || key.name === "ctrl-d") return answer(null);
  if (key.name === "enter" && selected >= 0) return answer(choices[selected]?.key ?? null);
  const by = STEPS[key.name];
  if (by) question.selected = step(by < 0 ? Math.max(0, selected) : selected, by, choices.length);
}

function step(selected: number, by: number, count: number): number {
  return count === 0 ? -1 : (selected + by + count) % count;
}

/** False when the key is none of the menu's. */
function pressMenu(typing: Typing, menu: NonNullable<Typing["menu"]>, name: KeyName): boolean {
  const { items, selected, isChosen } = menu;
  const { text, cursor } = typing.editor;
  const by = name === "tab" || name.startsWith("ctrl-") ? undefined : STEPS[name];
  if (by) typing.menu = { items, selected: step(selected, by, items.length), isChosen: true };
  // Nothing is left to complete, a word typed in full or none begun: Enter sends it then.
  const isWhole = ({ insert, from }: Completion) =>
    from >= cursor || insert.trimEnd() === text.slice(from, cursor).trimEnd();
  const isAccepted = name === "tab" || (name === "enter" && (isChosen || !items.some(isWhole)));
  if (isAccepted) accept(typing, items[selected]);
  return by !== undefined || isAccepted;
}

function accept(typing: Typing, item: Completion | undefined): void {
  const editor = item ? replaceBefore(typing.editor, item.from, item.insert) : typing.editor;
  Object.assign(typing, FRESH, { editor });
}

function menuOf({ options, editor }: Typing): Typing["menu"] {
  const items = options.completions(editor.text, editor.cursor);
  return items.length === 0 ? null : { items, selected: 0, isChosen: false };
}

type Act = (typing: Typing, name: KeyName) => void;

/** One completion is taken at once, several are offered. */
const complete: Act = (typing) => {
  typing.menu = menuOf(typing);
  if (typing.menu?.items.length === 1) accept(typing, typing.menu.items[0]);
};
const walkHistory: Act = (typing, name) => {
  const by = STEPS[name] ?? 1;
  const prompts = typing.options.history.prompts();
  const from = typing.walk ?? { index: prompts.length, prefix: typing.editor.text, draft: typing.editor };
  const index = findPrompt(prompts, from.index, by, from.prefix);
  // Past the newest one is what had been typed.
  const editor = index === null ? from.draft : withText(typing.editor, prompts[index] ?? "");
  if (index !== null || (by > 0 && typing.walk))
    Object.assign(typing, FRESH, { editor, walk: index === null ? null : { ...from, index } });
};
const close: Act = (typing) => Object.assign(typing, { menu: null });

/** What a key does that does not concern the text. */
const ACTS: Partial<Record<KeyName, Act>> = {
  ...{ enter: submit, tab: complete, "shift-tab": close, escape: close, "ctrl-c": interrupt },
  ...{ up: walkHistory, down: walkHistory, "ctrl-p": walkHistory, "ctrl-n": walkHistory },
  "ctrl-r": (typing) => Object.assign(typing, FRESH, { search: { words: "", index: null, draft: typing.editor } }),
  "ctrl-l": ({ options }) => options.screen.clear(),
  "ctrl-d": (typing) => typing.reading && end(typing),
  "ctrl-z": (typing) => typing.options.suspend && release(typing, typing.options.suspend).catch(() => {}),
};

function pressSearch(typing: Typing, search: NonNullable<Typing["search"]>, key: Key) {
  const prompts = typing.options.history.prompts();
  const look = (words: string, from: number, otherwise: number | null) => {
    const index = (words === "" ? null : searchPrompts(prompts, from, words)) ?? otherwise;
    if (index !== null) typing.editor = withText(typing.editor, prompts[index] ?? "");
    typing.search = { ...search, words, index };
  };
  if (key.type !== "press") return look(search.words + key.text.replaceAll("\n", " "), prompts.length, null);
  if (key.name === "backspace") return look(graphemes(search.words).slice(0, -1).join(""), prompts.length, null);
  // The oldest one stays when there is none before it.
  if (key.name === "ctrl-r") return look(search.words, search.index ?? prompts.length, search.index);
  typing.search = null;
  if (key.name === "escape" || key.name === "ctrl-c") typing.editor = search.draft;
}

/** Another text, or none. */
function fill(typing: Typing, text: string): void {
  Object.assign(typing, FRESH, { editor: withText(withoutText(typing.editor), text) });
}

/** What is sent while something else goes on waits for its turn. */
function submit(typing: Typing): void {
  const line = { text: submittedText(typing.editor), shown: echoOf(typing.editor) };
  Object.assign(typing, FRESH);
  if (line.text.trim() === "") return;
  fill(typing, "");
  if (typing.reading) send(typing, line);
  else typing.queued.push(line);
}

function send(typing: Typing, { text, shown }: Typing["queued"][number]): void {
  const { screen, paint } = typing.options;
  const indent = " ".repeat(PROMPT.length);
  screen.print(`${paint.dim(PROMPT)}${shown.replaceAll("\t", "    ").replaceAll("\n", `\n${indent}`)}`);
  const resolve = typing.reading;
  typing.reading = null;
  resolve?.(text);
}

function interrupt(typing: Typing): void {
  if (!typing.reading && typing.listeners.size > 0) {
    // What waited was meant for after a turn that is no more: back into the box, to be thought about.
    const waited = typing.queued.splice(0).map(({ text }) => text);
    if (waited.length > 0) fill(typing, [...waited, submittedText(typing.editor)].filter(Boolean).join("\n"));
    for (const listener of [...typing.listeners]) listener();
  } else if (typing.editor.text !== "") fill(typing, "");
  else if (typing.leaving) end(typing);
  else setLeaving(typing, true);
}

function setLeaving(typing: Typing, isLeaving: boolean): void {
  typing.leaving?.();
  const forget = () => {
    typing.leaving = null;
    draw(typing);
  };
  typing.leaving = isLeaving ? typing.options.setTimer(forget, LEAVE_MS) : null;
}

/** Whatever is asked for ends without an answer. */
function end(typing: Typing): void {
  const { reading } = typing;
  Object.assign(typing, { ended: true, reading: null });
  for (const { resolve } of typing.asked.splice(0)) resolve(null);
  reading?.(null);
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
    if (!typing.ended) {
      typing.released = false;
      stdin.setRawMode?.(true);
      stdin.resume();
      draw(typing);
    }
  }
}
