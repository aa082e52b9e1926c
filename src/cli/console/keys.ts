/** Bytes from a keyboard become keys: text, pastes, and named keys, also of the two protocols that distinguish Shift-Enter from Enter. */

import { StringDecoder } from "node:string_decoder";
import { sanitise } from "../../text/sanitise.ts";

export type Key =
  | { type: "text"; text: string }
  /** Pasted in one piece, line breaks as `\n`. */
  | { type: "paste"; text: string }
  | { type: "press"; name: KeyName };

export type KeyName =
  | "enter"
  /** A line break in the text: Ctrl-J, Alt-Enter, Shift-Enter. */
  | "newline"
  | "backspace"
  | "delete"
  | "tab"
  | "shift-tab"
  | "escape"
  | "up"
  | "down"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "alt-d"
  | "alt-backspace"
  | `ctrl-${string}`;

export interface Keys {
  feed(bytes: Uint8Array | string): Key[];
  /** What was begun stands for itself now: an Esc alone is the Esc key. The caller decides after how long. */
  flush(): Key[];
  /** Whether `flush` would have something to decide. */
  waiting(): boolean;
}

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
/** Longer than any sequence a keyboard sends: what goes on longer is dropped. */
const MAX_SEQUENCE = 64;

export function openKeys(): Keys {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let paste: string[] | null = null;

  /** Collects until the end mark, which may itself come in pieces: its beginning is carried over. */
  const takePaste = (text: string, keys: Key[]): string => {
    const parts = paste ?? [];
    const carried = parts.pop() ?? "";
    const all = carried + text;
    const end = all.indexOf(PASTE_END);
    if (end < 0) {
      const keep = Math.max(0, all.length - (PASTE_END.length - 1));
      parts.push(all.slice(0, keep), all.slice(keep));
      paste = parts;
      return "";
    }
    paste = null;
    // Tabs stay: what is pasted is handed on as it was.
    keys.push({ type: "paste", text: sanitise(parts.join("") + all.slice(0, end), "\t") });
    return all.slice(end + PASTE_END.length);
  };

  const takeTyped = (text: string, keys: Key[]): string => {
    for (let at = 0; at < text.length; ) {
      if (text.startsWith(PASTE_START, at)) {
        paste = [""];
        return text.slice(at + PASTE_START.length);
      }
      const step = readKey(text, at);
      if (step === null) {
        pending = text.slice(at);
        return "";
      }
      if (step.key) addKey(keys, step.key);
      at = step.next;
    }
    return "";
  };

  return {
    feed(bytes) {
      const keys: Key[] = [];
      let rest =
        typeof bytes === "string" ? bytes : decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      if (paste && rest === "\x03") {
        // A paste whose end never came must not swallow the keyboard for ever.
        keys.push({ type: "paste", text: sanitise(paste.join(""), "\t") });
        paste = null;
      }
      rest = pending + rest;
      pending = "";
      while (rest !== "") rest = paste ? takePaste(rest, keys) : takeTyped(rest, keys);
      return keys;
    },
    flush() {
      const begun = pending;
      pending = "";
      return begun === "\x1b" ? [{ type: "press", name: "escape" }] : [];
    },
    waiting: () => pending !== "",
  };
}

/** The key that begins at `at` (none for what is not known) and where the next one begins; null while it is unfinished. */
function readKey(text: string, at: number): { key: Key | null; next: number } | null {
  const first = text[at] ?? "";
  if (first === "\x1b") return readEscape(text, at);
  const name = CONTROLS[first];
  if (name) return { key: { type: "press", name }, next: at + 1 };
  const code = first.charCodeAt(0);
  if (code >= 1 && code <= 26)
    return { key: { type: "press", name: `ctrl-${String.fromCharCode(code + 96)}` }, next: at + 1 };
  if (isControl(code)) return { key: null, next: at + 1 };
  let end = at + 1;
  while (end < text.length && !isControl(text.charCodeAt(end))) end++;
  return { key: { type: "text", text: sanitise(text.slice(at, end)) }, next: end };
}

function readEscape(text: string, at: number): { key: Key | null; next: number } | null {
  const second = text[at + 1];
  if (second === undefined) return null;
  if (second === "[") return readCsi(text, at);
  if (second === "O") {
    const final = text[at + 2];
    return final === undefined ? null : { key: press(keyOfSs3(final)), next: at + 3 };
  }
  // Answers of the terminal to questions: nobody asked here.
  if (STRINGS.has(second)) return readString(text, at);
  if (second === "\x1b") return { key: { type: "press", name: "escape" }, next: at + 1 };
  return { key: press(ALT_KEYS[second]), next: at + 1 + (text.codePointAt(at + 1)! > 0xffff ? 2 : 1) };
}

function readCsi(text: string, at: number): { key: Key | null; next: number } | null {
  let end = at + 2;
  while (end < text.length && isBetween(text.charCodeAt(end), 0x20, 0x3f)) end++;
  if (end - at > MAX_SEQUENCE) return { key: null, next: end };
  if (end >= text.length) return null;
  // Something that cannot belong to it: what came so far is dropped, the rest speaks for itself.
  if (!isBetween(text.charCodeAt(end), 0x40, 0x7e)) return { key: null, next: end };
  // The Linux console's F keys have one character more.
  if (text[end] === "[") return end + 1 < text.length ? { key: null, next: end + 2 } : null;
  return { key: keyOfCsi(text.slice(at + 2, end), text[end] ?? ""), next: end + 1 };
}

function readString(text: string, at: number): { key: null; next: number } | null {
  for (let end = at + 2; end < text.length && end - at <= MAX_SEQUENCE * 2; end++) {
    if (text[end] === "\x07") return { key: null, next: end + 1 };
    if (text[end] === "\x1b") return { key: null, next: text[end + 1] === "\\" ? end + 2 : end };
  }
  return text.length - at > MAX_SEQUENCE ? { key: null, next: text.length } : null;
}

/** Neighbouring text is one key: fewer steps for the editor. */
function addKey(keys: Key[], key: Key): void {
  const last = keys.at(-1);
  if (key.type === "text" && last?.type === "text")
    keys[keys.length - 1] = { type: "text", text: last.text + key.text };
  else if (key.type !== "text" || key.text !== "") keys.push(key);
}

function isControl(code: number): boolean {
  return code < 0x20 || isBetween(code, 0x7f, 0x9f);
}

function isBetween(code: number, from: number, to: number): boolean {
  return code >= from && code <= to;
}

const CONTROLS: Record<string, KeyName> = {
  "\r": "enter",
  "\n": "newline",
  "\t": "tab",
  "\b": "backspace",
  "\x7f": "backspace",
};

const STRINGS: ReadonlySet<string> = new Set(["]", "P", "_", "^", "X"]);

const ALT_KEYS: Record<string, KeyName> = {
  "\r": "newline",
  "\n": "newline",
  "\x7f": "alt-backspace",
  "\b": "alt-backspace",
  b: "word-left",
  f: "word-right",
  d: "alt-d",
};

/** `ESC [ parameters final`; null for what is not known. */
function keyOfCsi(parameters: string, final: string): Key | null {
  const [first = "", second = "", third = ""] = parameters.split(";");
  const bits = modifiersOf(second);
  if (final === "u") return keyOfCode(Number.parseInt(first, 10), second);
  if (final === "~" && first === "27") return keyOfCode(Number.parseInt(third, 10), second);
  if (final === "~") return press(TILDE[first]);
  const name = ARROWS[final];
  // With Alt or Ctrl the arrows go by words.
  if (name === "left" && bits & (ALT | CTRL)) return press("word-left");
  if (name === "right" && bits & (ALT | CTRL)) return press("word-right");
  return press(name);
}

/** `ESC O final`: arrows in application mode, the number pad's Enter. */
function keyOfSs3(final: string): KeyName | undefined {
  return final === "M" ? "enter" : ARROWS[final];
}

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;

/** A key given by the code of its character, as kitty and xterm's modifyOtherKeys send it. */
function keyOfCode(code: number, modifiers: string): Key | null {
  // The part behind the colon says when: 3 is letting go of it.
  if (modifiers.split(":")[1] === "3" || !Number.isInteger(code)) return null;
  const bits = modifiersOf(modifiers);
  if (code === 13 || code === 57414) return press(bits === 0 ? "enter" : "newline");
  if (code === 27) return press("escape");
  if (code === 9) return press(bits & SHIFT ? "shift-tab" : "tab");
  if (code === 127) return press(bits & (ALT | CTRL) ? "alt-backspace" : "backspace");
  if (code < 0x20 || code > 0x10ffff || isPrivate(code)) return null;
  const character = String.fromCodePoint(code);
  if (bits & CTRL) return /^[a-z]$/i.test(character) ? press(controlName(character.toLowerCase())) : null;
  if (bits & ALT) return press(ALT_KEYS[character.toLowerCase()]);
  return { type: "text", text: bits & SHIFT ? character.toUpperCase() : character };
}

/** As the same key would arrive without the protocol. */
function controlName(letter: string): KeyName {
  return ({ j: "newline", m: "enter", i: "tab", h: "backspace" }[letter] as KeyName | undefined) ?? `ctrl-${letter}`;
}

/** The number is one more than the bits; Caps Lock and Num Lock above them do not matter. */
function modifiersOf(parameter: string): number {
  const value = Number.parseInt(parameter, 10);
  return Number.isInteger(value) && value > 0 ? (value - 1) & (SHIFT | ALT | CTRL) : 0;
}

/** Surrogates, and kitty's numbers for keys without a character. */
function isPrivate(code: number): boolean {
  return isBetween(code, 0xd800, 0xf8ff) || isBetween(code, 0x7f, 0x9f);
}

function press(name: KeyName | undefined): Key | null {
  return name ? { type: "press", name } : null;
}

const ARROWS: Record<string, KeyName> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "shift-tab",
};

const TILDE: Record<string, KeyName> = {
  "1": "home",
  "7": "home",
  "4": "end",
  "8": "end",
  "3": "delete",
  "5": "page-up",
  "6": "page-down",
};
