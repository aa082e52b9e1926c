/** Text from a file as it may be shown. Harmless: it cannot close the fence it is shown in, speak as another, or hide anything. And cut to what one file may take. */

import { lazily } from "../errors.ts";

/** How our own remarks around a memory begin; a memory's text may not begin a line with them. */
export const PROVENANCE_OPENING = "Provenance:";
export const CHECKED_OPENING = "Checked against the code:";
export const LEFT_OUT_OPENING = "Not shown for lack of room:";

/**
 * What cannot be seen is removed first, so that removing it cannot make a tag. Then lines that pose as ours or as a speaker are
 * quoted with `> `, and the bracket of a tag that hosts speak with becomes `&lt;`: visible, legible, and no tag. Doing it twice
 * changes nothing more.
 */
export function neutralise(text: string): string {
  return defuseTags(quotePosingLines(stripInvisible(text)));
}

/** The same on one line, for paths, titles and descriptions. */
export function neutraliseLine(text: string): string {
  return neutralise(stripInvisible(text).replace(/[\n\t]+/g, " "));
}

/** For our own text around a memory: nothing in it closes the fence, its lines stay as they are. */
export function neutraliseTags(text: string): string {
  return defuseTags(stripInvisible(text));
}

/** Sequences that a terminal obeys instead of showing: colours, links and titles, commands of two characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPES = /\x1b[\]P^_X][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb]/g;

/** Vertical tab, form feed, next line and the two separators of Unicode begin a line for some readers: for all of them here. */
const LINE_BREAKS = /\r\n?|[\v\f\x85\u2028\u2029]/g;

/** Zero width, direction marks, variation selectors, tag characters and the like: what a font shows as nothing. */
const invisible = lazily(() => /\p{Default_Ignorable_Code_Point}+/gu);

/** Nothing in it is invisible or looks like something else. */
const PLAIN = /^[\n\t -~]*$/;

function stripInvisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .toWellFormed()
    .replace(ESCAPES, "")
    .replace(LINE_BREAKS, "\n")
    .replace(CONTROLS, "")
    .replace(invisible(), (run, at: number, whole: string) => (isSpelling(run, at, whole) ? run : ""));
}

const emoji = lazily(() => ({
  before: /[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u,
  after: /^\p{Extended_Pictographic}/u,
}));

/** Scripts in which a joiner changes the word that is read. None of their letters looks like one of a tag's. */
const JOINING =
  "[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gujarati}\\p{Script=Gurmukhi}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Oriya}\\p{Script=Sinhala}\\p{Script=Tamil}\\p{Script=Telugu}]";
const joining = lazily(() => ({ before: new RegExp(`${JOINING}$`, "u"), after: new RegExp(`^${JOINING}`, "u") }));

/** A joiner inside an emoji or inside a word of a joining script, or the selector of an emoji's look. */
function isSpelling(run: string, at: number, whole: string): boolean {
  const before = whole.slice(Math.max(0, at - 2), at);
  const after = whole.slice(at + run.length, at + run.length + 2);
  if (run === "\ufe0f" || run === "\ufe0e") return emoji().before.test(before);
  if (run === "\ufe0f\u200d") return emoji().before.test(before) && emoji().after.test(after);
  if (run === "\u200d" && emoji().before.test(before)) return emoji().after.test(after);
  return (run === "\u200d" || run === "\u200c") && joining().before.test(before) && joining().after.test(after);
}

/** How the sentence begins; a memory's own text may not begin a line with it. */
const FRESHNESS_OPENING = "The memory below is";

const LINE_POSES = [
  // A header of ours, with its path; `Memory: 64 GB` is somebody's note.
  /^\s*memory\s*(?:\(\s*saved\b|:\s*\S.*(?:\.md\b|:\s*$))/i,
  ...[FRESHNESS_OPENING, PROVENANCE_OPENING, CHECKED_OPENING, LEFT_OUT_OPENING].map(
    (opening) => new RegExp(`^\\s*${opening.replaceAll(" ", "\\s+")}`, "i"),
  ),
  // Speakers. In small letters the latter are usual keys of settings files.
  /^\s*[*_]{0,3}(?:human|assistant)[*_]{0,3}\s*:/i,
  /^\s*[*_]{0,3}(?:SYSTEM|System|USER|User|DEVELOPER|Developer)[*_]{0,3}\s*:/,
];

function quotePosingLines(text: string): string {
  const seen = skeletonOf(text).text.split("\n");
  return text
    .split("\n")
    .map((line, i) => (isPosing(seen[i]!) ? `> ${line}` : line))
    .join("\n");
}

/** How all of them begin: compiling seven patterns is a good part of what a hook has time for, and few lines need them. */
const POSE_BEGINS = /^[\s*_]*(?:me|the|prov|check|not|hum|ass|sys|us|dev)/i;

function isPosing(line: string): boolean {
  return POSE_BEGINS.test(line) && LINE_POSES.some((pose) => pose.test(line));
}

/** The fence itself: any bracket with its name after it, whatever follows. */
const FENCE = /<[\s/\\!?]*system[\s_.-]*reminder/gi;

/** Other tags that hosts speak with, when they are whole. */
const SPEAKING =
  /<[\s/\\]*(?:antml:[a-z_]+|system(?:[_-][a-z_-]+)?|assistant|user|human|developer|tool_(?:use|call|result|response)s?|function_(?:call|result)s?|invoke|instructions|thinking|memor(?:y|ies)(?:[_-][a-z_-]+)?|memdir[a-z_-]*)(?=\s{0,20}[/\\]?\s{0,20}>|\s[^>]{0,200}>)/gi;

/** Marks of chat templates, such as `<|im_start|>`. */
const TEMPLATE = /<\|[a-z_]{1,40}\|>/gi;

function defuseTags(text: string): string {
  if (PLAIN.test(text) && !text.includes("<")) return text;
  const skeleton = skeletonOf(text);
  const brackets = [FENCE, TEMPLATE, SPEAKING].flatMap((tag) => {
    const found = [...skeleton.text.matchAll(tag)].filter((match) => tag !== SPEAKING || !isCode(match));
    return found.map(({ index }) => index);
  });
  if (brackets.length === 0) return text;

  let defused = "";
  let done = 0;
  for (const at of skeleton.origins([...new Set(brackets)].sort((a, b) => a - b))) {
    defused += `${text.slice(done, at)}&lt;`;
    done = at + String.fromCodePoint(text.codePointAt(at)!).length;
  }
  return defused + text.slice(done);
}

/** A type argument, as in `Promise<User | null>`, and a header of C++. */
function isCode({ 0: tag, index, input }: RegExpExecArray): boolean {
  const before = input.slice(Math.max(0, index - 20), index);
  if (tag === "<memory" && /#\s*include\s*$/.test(before)) return true;
  return /^<[A-Z][a-z]+$/.test(tag) && /\w$/.test(before);
}

interface Skeleton {
  text: string;
  /** Where in the original the places of the skeleton are; both in ascending order. */
  origins: (places: readonly number[]) => number[];
}

const notAscii = lazily(() => /[^\n -~\t]/gu);
const unseen = lazily(() => /[\p{M}\p{Default_Ignorable_Code_Point}]/gu);

/** The text as it looks to somebody who reads past accents, widths and letters of other scripts: matched against, never shown. */
function skeletonOf(text: string): Skeleton {
  if (PLAIN.test(text)) return { text, origins: (places) => [...places] };
  const skeleton = text.replace(notAscii(), lookOf);
  const origins = (places: readonly number[]) => {
    const found: number[] = [];
    let [seen, offset] = [0, 0];
    for (const character of text) {
      seen += lookOf(character).length;
      while (places[found.length]! < seen) found.push(offset);
      offset += character.length;
    }
    return found;
  };
  return { text: skeleton, origins: skeleton === text ? (places) => [...places] : origins };
}

/** A text repeats its characters, and looking one up is a tenth of working it out. There are only so many. */
const LOOKS = new Map<string, string>();

function lookOf(character: string): string {
  const known = LOOKS.get(character);
  if (known !== undefined) return known;
  const plain = character.normalize("NFKD").replace(unseen(), "");
  const look = plain.replace(
    /[^\n-~]/gu,
    (c) => lookalikes().get(c) ?? lookalikes().get(c.toLowerCase())?.toUpperCase() ?? c,
  );
  LOOKS.set(character, look);
  return look;
}

/** Groups: what it looks like, then the characters that do. Only what tags and speakers are written with. */
const LOOKALIKES =
  "<‹〈⟨❬❮❰ᐸ˂𝈶⧼ >›〉⟩❭❯❱ᐳ˃𝈷⧽ /∕⁄⧸╱⟋ \\∖⧵╲⟍ :ː˸∶꞉׃։ |ǀ│∣ -‐‑‒–—―−﹘⁃➖ _ˍ aаαɑᴀ cсϲᴄ dԁᴅ eеεєҽᴇ gɡց hһհʜ iіıιɪӏ kкκᴋ lⅼʟ mмᴍ nոηпɴ oоοσօᴏ pрρᴘ rгʀ sѕꜱ tтτᴛ uսυᴜ vνѵᴠ yуүγʏ";
const lookalikes = lazily(() => {
  const pairs = LOOKALIKES.split(" ").flatMap(([look = "", ...others]) =>
    others.map((other) => [other, look] as const),
  );
  return new Map(pairs);
});

/** Today's and yesterday's memories speak for themselves; from the second day on everything is said with its age. */
const LAST_FRESH_DAY = 1;

export function freshnessWarning(days: number): string {
  if (!(days > LAST_FRESH_DAY)) return "";
  return `${FRESHNESS_OPENING} ${days} days old: a point-in-time observation that may be outdated by now. Verify it against the current code before you state it as fact.`;
}

/** As much of one file as hosts show. Bytes, not characters, so that no language gets more room than another. */
export const MAX_MEMORY_BYTES_PER_FILE = 4096;

/** Lines without much in them, such as a pasted log, crowd a prompt before they reach the byte limit. */
const MAX_MEMORY_LINES_PER_FILE = 200;

/** The first that leaves at least as much room for the content is used. */
const MARKERS = [
  "\n\n[cut here: this is only the beginning, read the file for the whole of it]",
  "\n[cut]",
  "",
] as const;

/** A line longer than this share of the text is cut inside rather than dropped. */
const NEAR = 0.75;

/** The marker lies inside `maxBytes` and below the last of `maxLines`. Cutting what was cut to the same limits changes nothing. */
export function cutContent(
  text: string,
  { maxBytes: most = MAX_MEMORY_BYTES_PER_FILE, maxLines = MAX_MEMORY_LINES_PER_FILE } = {},
): { content: string; cut: boolean } {
  const maxBytes = Math.max(0, Math.floor(most));
  const end = lineLimit(text, maxLines);
  if (end === text.length && fits(text, maxBytes)) return { content: text, cut: false };

  const marker = MARKERS.find((candidate) => 2 * candidate.length <= maxBytes) ?? "";
  const room = maxBytes - marker.length;
  const lines = text.slice(0, end);
  const kept = fits(lines, room) ? lines : atLineEnd(firstBytes(lines, room));
  return { content: kept.trimEnd() + marker, cut: true };
}

/** One line's text at a length in characters, with an ellipsis in place of what is cut off. */
export function clipLine(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The longest beginning of at most `maxBytes` that ends between two characters. */
function firstBytes(text: string, maxBytes: number): string {
  // A character takes a byte at least, so the rest of a large text need not be encoded.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  let end = Math.min(bytes.length, maxBytes);
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

function atLineEnd(text: string): string {
  const newline = text.lastIndexOf("\n");
  return newline >= text.length * NEAR ? text.slice(0, newline) : text;
}

/** Where the last line that may be shown ends; our own marker is no line of the text. */
function lineLimit(text: string, maxLines: number): number {
  const last = MARKERS[0];
  const length = text.endsWith(last) ? text.length - last.length : text.length;
  let at = -1;
  for (let line = 0; line < maxLines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= length) return text.length;
  }
  if (maxLines === 0) return text.trim() === "" ? text.length : 0;
  return text.slice(at).trim() === "" ? text.length : at;
}

function fits(text: string, maxBytes: number): boolean {
  return text.length <= maxBytes && Buffer.byteLength(text) <= maxBytes;
}

/** The field and what belongs to it: lines that are further in, items of a list, empty lines. */
const CUES = /^([ \t]*)when:.*(?:\n(?:\1[ \t]+.*|\1-.*|[ \t]*\r?))*\n?/m;
const FRONTMATTER = /^---[ \t]*\r?\n/;

/** Its text without the cues. */
export function shownContent(text: string): string {
  if (!FRONTMATTER.test(text)) return text;
  const end = text.indexOf("\n---", 3);
  if (end < 0) return text;
  // One line break more belongs to the head than is cut off it.
  return text.slice(0, end + 1).replace(CUES, "") + text.slice(end + 1);
}
