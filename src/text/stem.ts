/** English words cut to their stem (Porter's second algorithm), so that deploy, deploys and deploying are one term. */

/** Words that the rules would spoil. */
const IRREGULAR: Readonly<Record<string, string>> = {
  skis: "ski",
  skies: "sky",
  dying: "die",
  lying: "lie",
  tying: "tie",
  idly: "idl",
  gently: "gentl",
  ugly: "ugli",
  early: "earli",
  only: "onli",
  singly: "singl",
  sky: "sky",
  news: "news",
  howe: "howe",
  atlas: "atlas",
  cosmos: "cosmos",
  bias: "bias",
  andes: "andes",
};

const UNCHANGED_AFTER_STEP_1A = new Set([
  "inning",
  "outing",
  "canning",
  "herring",
  "earring",
  "proceed",
  "exceed",
  "succeed",
]);

const STEP_2: readonly (readonly [string, string])[] = [
  ["ization", "ize"],
  ["ational", "ate"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["entli", "ent"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ousli", "ous"],
  ["iviti", "ive"],
  ["fulli", "ful"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["abli", "able"],
  ["izer", "ize"],
  ["ator", "ate"],
  ["alli", "al"],
  ["bli", "ble"],
];

const STEP_3: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];

const STEP_4 = [
  "ement",
  "ance",
  "ence",
  "able",
  "ible",
  "ment",
  "ant",
  "ent",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize",
  "al",
  "er",
  "ic",
] as const;

const VOWELS = "aeiouy";

/** `word` in lower case; anything but a–z and apostrophes is given back as it is. */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z']+$/.test(word)) return word;
  // Every object has a constructor, and so has many a memory.
  if (Object.hasOwn(IRREGULAR, word)) return IRREGULAR[word] as string;
  let w = word.replace(/^'+/, "").replace(/'s?'?$/, "");
  if (w.length < 3) return w;
  // A y that begins the word or follows a vowel is a consonant.
  w = w.replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
  const r1 = regionOf(w);
  const r2 = regionAfter(w, r1);
  w = step1a(w);
  if (UNCHANGED_AFTER_STEP_1A.has(w)) return w;
  w = step1b(w, r1);
  w = w.replace(/(?<=.[^aeiouy])[yY]$/, "i");
  w = replaceLongest(w, STEP_2, r1);
  w = step2Rest(w, r1);
  w = replaceLongest(w, STEP_3, r1);
  if (w.endsWith("ative") && w.length - 5 >= r2) w = w.slice(0, -5);
  w = step4(w, r2);
  return step5(w, r1, r2).toLowerCase();
}

/** Where the part after the first consonant that follows a vowel begins. */
function regionOf(w: string): number {
  if (w.startsWith("gener") || w.startsWith("arsen")) return 5;
  if (w.startsWith("commun")) return 6;
  return regionAfter(w, 0);
}

function regionAfter(w: string, from: number): number {
  for (let i = from + 1; i < w.length; i++) if (!isVowel(w, i) && isVowel(w, i - 1)) return i + 1;
  return w.length;
}

function isVowel(w: string, at: number): boolean {
  return VOWELS.includes(w[at] as string);
}

function hasVowel(w: string): boolean {
  return /[aeiouy]/.test(w);
}

function step1a(w: string): string {
  if (w.endsWith("sses")) return w.slice(0, -2);
  if (/ie[ds]$/.test(w)) return w.length > 4 ? w.slice(0, -2) : w.slice(0, -1);
  if (w.endsWith("us") || w.endsWith("ss")) return w;
  return w.endsWith("s") && hasVowel(w.slice(0, -2)) ? w.slice(0, -1) : w;
}

function step1b(w: string, r1: number): string {
  const eed = /(eedly|eed)$/.exec(w);
  if (eed) return eed.index >= r1 ? w.slice(0, eed.index + 2) : w;
  const ending = /(ingly|edly|ing|ed)$/.exec(w);
  if (!ending || !hasVowel(w.slice(0, ending.index))) return w;
  const base = w.slice(0, ending.index);
  if (/(at|bl|iz)$/.test(base)) return `${base}e`;
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(base)) return base.slice(0, -1);
  return isShort(base, r1) ? `${base}e` : base;
}

/** One short syllable and nothing behind it: hop, bed, not beads. */
function isShort(w: string, r1: number): boolean {
  return r1 >= w.length && endsShort(w);
}

function endsShort(w: string): boolean {
  if (w.length === 2) return isVowel(w, 0) && !isVowel(w, 1);
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(w);
}

function replaceLongest(w: string, endings: readonly (readonly [string, string])[], region: number): string {
  for (const [ending, by] of endings) {
    if (!w.endsWith(ending)) continue;
    return w.length - ending.length >= region ? w.slice(0, w.length - ending.length) + by : w;
  }
  return w;
}

function step2Rest(w: string, r1: number): string {
  if (w.endsWith("ogi") && w.length - 3 >= r1 && w.at(-4) === "l") return w.slice(0, -1);
  if (w.endsWith("li") && w.length - 2 >= r1 && /[cdeghkmnrt]li$/.test(w)) return w.slice(0, -2);
  return w;
}

function step4(w: string, r2: number): string {
  const ion = /[st]ion$/.test(w);
  for (const ending of STEP_4) {
    if (!w.endsWith(ending)) continue;
    return w.length - ending.length >= r2 ? w.slice(0, -ending.length) : w;
  }
  return ion && w.length - 3 >= r2 ? w.slice(0, -3) : w;
}

function step5(w: string, r1: number, r2: number): string {
  if (w.endsWith("e")) {
    const at = w.length - 1;
    return at >= r2 || (at >= r1 && !endsShort(w.slice(0, -1))) ? w.slice(0, -1) : w;
  }
  return w.endsWith("ll") && w.length - 1 >= r2 ? w.slice(0, -1) : w;
}
