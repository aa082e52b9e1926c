/** Bytes from a keyboard become keys: text, pastes, and named keys, also in the two protocols that distinguish Shift-Enter from Enter. */

import { StringDecoder } from "node:string_decoder";
import { sanitise } from "../../text/sanitise.ts";

export type Key =
  | { type: "text"; text: string }
  /** Pasted in one piece, line breaks as `\n`. */
  | { type: "paste"; text: string }
  | { type: "press"; name: KeyName };

type Move = "up" | "down" | "left" | "right" | "word-left" | "word-right" | "home" | "end";
/** `newline` is a line break in the text: Ctrl-J, Alt-Enter, Shift-Enter. */
type Edit = "enter" | "newline" | "backspace" | "delete" | "tab" | "shift-tab" | "alt-d" | "alt-backspace";
export type KeyName = Move | Edit | "escape" | `ctrl-${string}`;

const PASTE_START = "\x1b[200~";
const PASTE_END = "\x1b[201~";
const KEY = new RegExp(
  [
    // The beginning of a sequence. What is longer than any that a keyboard sends is no longer waited for.
    "(\\x1b(?:\\[\\[|\\[[ -?]{0,62}|O|[\\]P_^X][^\\x07\\x1b]{0,62}\\x1b?)?$)",
    // The F keys of the Linux console have one character more.
    "\\x1b\\[\\[[^]",
    // CSI with parameters; without an end something else cut it off, and it is dropped.
    "\\x1b\\[([ -?]*)([@-~]?)",
    "\\x1bO([^])",
    // Answers of the terminal to questions that were not asked here.
    "\\x1b[\\]P_^X][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)?",
    "\\x1b(?=\\x1b)",
    "\\x1b([^])",
    "\\p{Cc}",
    "\\P{Cc}+",
  ].join("|"),
  "uy",
);

export function openKeys() {
  const decoder = new StringDecoder("utf8");
  let pending = "";
  let paste: string | null = null;
  const endPaste = (last: string): Key => {
    const text = sanitise(paste + last, "\t");
    paste = null;
    return { type: "paste", text };
  };
  const takePaste = (text: string, keys: Key[]): string => {
    const end = text.indexOf(PASTE_END);
    if (end >= 0) {
      keys.push(endPaste(text.slice(0, end)));
      return text.slice(end + PASTE_END.length);
    }
    // The end mark may come in pieces.
    const keep = Math.max(0, text.length - (PASTE_END.length - 1));
    paste += text.slice(0, keep);
    pending = text.slice(keep);
    return "";
  };
  const takeTyped = (text: string, keys: Key[]): string => {
    KEY.lastIndex = 0;
    for (let match = KEY.exec(text); match; match = KEY.exec(text)) {
      pending = match[1] ?? "";
      if (match[0] === PASTE_START) {
        paste = "";
        return text.slice(KEY.lastIndex);
      }
      if (pending === "") addKey(keys, readKey(match));
    }
    return "";
  };
  return {
    feed(bytes: Uint8Array | string): Key[] {
      const keys: Key[] = [];
      let text = typeof bytes === "string" ? bytes : decoder.write(Buffer.from(bytes));
      if (paste !== null && text === "\x03") {
        // A paste whose end never came must not swallow the keyboard forever.
        keys.push(endPaste(pending));
        pending = "";
      }
      text = pending + text;
      pending = "";
      while (text !== "") text = paste === null ? takeTyped(text, keys) : takePaste(text, keys);
      return keys;
    },
    /** No more bytes are coming for what was begun: an Esc on its own is the Esc key. The caller decides after how long. */
    flush(): Key[] {
      const isEscape = paste === null && pending === "\x1b";
      if (paste === null) pending = "";
      return isEscape ? [{ type: "press", name: "escape" }] : [];
    },
    /** Whether `flush` would have something to decide. */
    waiting: () => paste === null && pending !== "",
  };
}

/** Adjacent text is one key: fewer steps for the editor. */
function addKey(keys: Key[], key: Key | null): void {
  const last = keys.at(-1);
  if (key?.type === "text" && last?.type === "text") last.text += key.text;
  else if (key && (key.type !== "text" || key.text !== "")) keys.push(key);
}

type Names = Record<string, KeyName>;
const ARROWS: Names = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift-tab", M: "enter" };
const TILDE: Names = { 1: "home", 7: "home", 4: "end", 8: "end", 3: "delete" };
const CONTROLS: Names = { "\r": "enter", "\n": "newline", "\t": "tab", "\b": "backspace", "\x7f": "backspace" };
const ALT_CONTROLS: Names = { enter: "newline", newline: "newline", backspace: "alt-backspace" };
const ALT_KEYS: Names = { b: "word-left", f: "word-right", d: "alt-d" };

/** Null for what is not known. */
function readKey([whole, , parameters, final = "", ss3, alt]: RegExpExecArray): Key | null {
  if (parameters !== undefined) return keyOfCsi(parameters, final);
  if (ss3 !== undefined) return press(ARROWS[ss3]);
  if (alt !== undefined) return press(ALT_CONTROLS[CONTROLS[alt] ?? ""] ?? ALT_KEYS[alt]);
  if (whole.startsWith("\x1b")) return press(whole === "\x1b" ? "escape" : undefined);
  return /^\p{Cc}/u.test(whole) ? keyOfControl(whole) : { type: "text", text: sanitise(whole) };
}

function keyOfControl(character: string): Key | null {
  const code = character.charCodeAt(0);
  return press(CONTROLS[character] ?? (code > 0 && code <= 26 ? `ctrl-${String.fromCharCode(code + 96)}` : undefined));
}

const SHIFT = 1;
const ALT_OR_CTRL = 6;
const CTRL = 4;

/** `ESC [ parameters final`. */
function keyOfCsi(parameters: string, final: string): Key | null {
  const [first = "", modifiers = "", third = ""] = parameters.split(";");
  // One more than the bits; Caps Lock and Num Lock above them do not matter.
  const bits = (Number.parseInt(modifiers, 10) || 1) - 1;
  // The part behind the colon says when: 3 is letting go of it.
  if (final === "u") return modifiers.endsWith(":3") ? null : keyOfCode(Number.parseInt(first, 10), bits);
  if (final === "~") return first === "27" ? keyOfCode(Number.parseInt(third, 10), bits) : press(TILDE[first]);
  const name = final === "M" ? undefined : ARROWS[final];
  return press((name === "left" || name === "right") && bits & ALT_OR_CTRL ? `word-${name}` : name);
}

/** A key given by the code of its character, as kitty and xterm's modifyOtherKeys send it. */
function keyOfCode(code: number, bits: number): Key | null {
  // The number pad's Enter.
  if (code === 13 || code === 57414) return press((bits & (SHIFT | ALT_OR_CTRL)) === 0 ? "enter" : "newline");
  if (code === 27) return press("escape");
  if (code === 9) return press(bits & SHIFT ? "shift-tab" : "tab");
  if (code === 127) return press(bits & ALT_OR_CTRL ? "alt-backspace" : "backspace");
  if (!(code >= 0 && code <= 0x10ffff)) return null;
  const character = String.fromCodePoint(code);
  // Control characters, surrogates, and kitty's numbers for keys without a character.
  if (/[\p{Cc}\p{Cs}\p{Co}]/u.test(character)) return null;
  if (bits & CTRL) return /[a-z]/i.test(character) ? keyOfControl(String.fromCharCode(code & 31)) : null;
  if (bits & ALT_OR_CTRL) return press(ALT_KEYS[character.toLowerCase()]);
  return { type: "text", text: bits & SHIFT ? character.toUpperCase() : character };
}

function press(name: KeyName | undefined): Key | null {
  return name ? { type: "press", name } : null;
}
