/** What a prompt may be worth, seen at a glance: whether somebody asks to keep something, whether it says anything at all. */

/**
 * Words without which nobody asks to remember something, in the languages of learn/said-explicit.ts, whose own patterns take as long
 * to compile as everything else here takes. Rather once too often: the process that is started looks again, and closely.
 */
const ASKING =
  /^\s*#|remember|memor|mind|forget|\bnot(?:es?\b|i[ez])|reference|next time|future|\b(?:from|for) (?:now|here|later)|forward|henceforth|should know|(?:save|store|record|write|put|add|commit)\b.{0,40}(?:this|that|down|following)|merke? |denke? |behalte? |vergiss|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt)|zukunft|künftig|fortan|souv[ie]|rappel|retiens|retenez|mémor|oubli|garde|doréna|désorm|partir d|avenir|recuerd|acuérd|olvid|en cuenta|anota|adelante|lembr|esqueç|ricorda|dimentic|onthoud|vergeet|[记記忘]|现在|現在|今[后後]|以[后後]|今以后|これから|覚え|憶|メモ|기억/i;

/** More than anybody types before saying what is to be kept. */
const MAX_ASKED_CHARS = 4_000;

export function mayAskToKeep(prompt: string): boolean {
  return ASKING.test(prompt.slice(0, MAX_ASKED_CHARS));
}

/** A word of thanks or agreement, or a command for the host. */
const IDLE =
  /^(?:.{0,11}|\/[\w:-]+(?:\s.*)?|(?:ok(?:ay)?|thanks|thank you|thx|great|perfect|nice|yes|no|go on|go ahead)\b.{0,12})$/is;
const MAX_IDLE_CHARS = 200;

/** Nothing in it that the rules could keep. */
export function isIdle(prompt: string): boolean {
  const text = prompt.trim();
  return text.length <= MAX_IDLE_CHARS && IDLE.test(text) && !mayAskToKeep(text);
}
