/** Bytes of a terminal in raw mode, as keys: a decoder that keeps what is unfinished for the next chunk. */

import { StringDecoder } from "node:string_decoder";
import { type Key, type KeyName, keyOfCsi, keyOfSs3 } from "./key-names.ts";
import { sanitise } from "./sanitise.ts";

export type { Key, KeyName } from "./key-names.ts";

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
    keys.push({ type: "paste", text: sanitisePaste(parts.join("") + all.slice(0, end)) });
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
        keys.push({ type: "paste", text: sanitisePaste(paste.join("")) });
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
    return final === undefined ? null : { key: pressOf(keyOfSs3(final)), next: at + 3 };
  }
  // Answers of the terminal to questions: nobody asked here.
  if (STRINGS.has(second)) return readString(text, at);
  if (second === "\x1b") return { key: { type: "press", name: "escape" }, next: at + 1 };
  return { key: pressOf(ALT[second] ?? null), next: at + 1 + (text.codePointAt(at + 1)! > 0xffff ? 2 : 1) };
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

function pressOf(name: KeyName | null): Key | null {
  return name === null ? null : { type: "press", name };
}

/** Neighbouring text is one key: fewer steps for the editor. */
function addKey(keys: Key[], key: Key): void {
  const last = keys.at(-1);
  if (key.type === "text" && last?.type === "text")
    keys[keys.length - 1] = { type: "text", text: last.text + key.text };
  else if (key.type !== "text" || key.text !== "") keys.push(key);
}

/** Tabs stay: what is pasted is handed on as it was. */
function sanitisePaste(text: string): string {
  return sanitise(text, "\t");
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

const ALT: Record<string, KeyName> = {
  "\r": "newline",
  "\n": "newline",
  "\x7f": "alt-backspace",
  "\b": "alt-backspace",
  b: "word-left",
  f: "word-right",
  d: "alt-d",
};
