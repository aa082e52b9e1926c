/** What the escape sequences of keyboards mean: the usual ones, and the two protocols that tell Shift-Enter from Enter. */

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

/** `ESC [ parameters final`; null for what is not known. */
export function keyOfCsi(parameters: string, final: string): Key | null {
  const [first = "", second = "", third = ""] = parameters.split(";");
  const bits = modifiersOf(second);
  if (final === "u") return keyOfCode(Number.parseInt(first, 10), second);
  if (final === "~" && first === "27") return keyOfCode(Number.parseInt(third, 10), second);
  if (final === "~") return press(TILDE[first] ?? null);
  const name = ARROWS[final] ?? null;
  // With Alt or Ctrl the arrows go by words.
  if (name === "left" && bits & (ALT | CTRL)) return press("word-left");
  if (name === "right" && bits & (ALT | CTRL)) return press("word-right");
  return press(name);
}

/** `ESC O final`: arrows in application mode, the number pad's Enter. */
export function keyOfSs3(final: string): KeyName | null {
  return final === "M" ? "enter" : (ARROWS[final] ?? null);
}

const SHIFT = 1;
const ALT = 2;
const CTRL = 4;

/** A key told by its character's number, as kitty and xterm's modifyOtherKeys do. */
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
  if (bits & ALT) return press({ b: "word-left", f: "word-right", d: "alt-d" }[character.toLowerCase()] as KeyName);
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
  return (code >= 0xd800 && code <= 0xdfff) || (code >= 0xe000 && code <= 0xf8ff) || (code >= 0x7f && code <= 0x9f);
}

function press(name: KeyName | null | undefined): Key | null {
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
