// Memories, prompts and vectors made up by a grammar of our own, the same in every run: large stores without outside data or a slow model.

const OPENINGS = "before after when while whenever unless because although once until".split(" ");
const LINKS = "the a and of in with for to from on by is was must should that this our its not".split(" ");
/** Words of the trade, the most frequent ones of all texts. */
const COMMON = (
  "test build deploy server client cache token branch release config table query index schema column migration database worker queue " +
  "retry timeout error log metric alert review commit merge rebase script folder file path module package version lock import export type " +
  "function class method handler route request response header cookie session login user account payment invoice order customer report " +
  "email template form button page layout theme color font image upload download stream buffer thread process signal port socket proxy " +
  "gateway cluster node container volume secret key certificate domain region backup restore snapshot replica shard partition topic event " +
  "message job schedule task sprint ticket issue label team owner manager designer customer feature flag rollout experiment limit quota " +
  "budget price tax currency locale language date zone week friday freeze staging production local remote mirror registry pipeline runner " +
  "step stage artifact coverage lint format rule warning crash leak profile trace sample batch cursor offset transaction deadlock trigger " +
  "view join filter sort group sum count average graph chart dashboard panel screen mobile desktop browser plugin extension editor terminal"
).split(" ");
const SYLLABLES =
  "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru pla ste tri spo sku".split(" ");
const VOCABULARY = 5_000;
/** Words of content have no such peak as a plain Zipf curve: its first hundred are words like "the". */
const FLATTENED = 20;
const TYPES = ["user", "feedback", "project", "reference"];
const CUES = 6;
const DIMENSIONS = 384;

/** Numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const vocabulary = makeVocabulary();
const reach = makeReach();

/** One after the other, so that a hundred thousand need no room. */
export function* inventMemories(count, { cues = CUES, seed = 1 } = {}) {
  for (let i = 0; i < count; i++) yield inventMemory(i, cues, makeRandom(seed * 1_000_003 + i));
}

export function inventMemory(i, cues, random) {
  const name = `${content(random)} ${content(random)} ${content(random)}`;
  return {
    file: `${name.replaceAll(" ", "_")}_${i}.md`,
    name,
    description: sentence(random, 8 + Math.floor(random() * 5)),
    type: TYPES[i % TYPES.length],
    modified: new Date(Date.UTC(2026, 0, 1) + (i % 300) * 86_400_000).toISOString(),
    body: inventBody(random),
    when: Array.from({ length: cues }, () => sentence(random, 6 + Math.floor(random() * 5))),
  };
}

/** 8 to 15 words. */
export function inventPrompt(random) {
  return sentence(random, 8 + Math.floor(random() * 8));
}

/** A vector of length one that depends on the text alone. It means nothing, and costs as much to look through as one that does. */
export function embedInvented(text) {
  let seed = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) seed = Math.imul(seed ^ text.charCodeAt(i), 0x01000193);
  const random = makeRandom(seed);
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

/** 60 to 100 words, in three parts as memories have them. */
function inventBody(random) {
  const words = 60 + Math.floor(random() * 41);
  const part = () => sentence(random, Math.round(words / 6));
  return `${part()}. ${part()}.\n\n**Why:** ${part()}. ${part()}.\n\n**How to apply:** ${part()}. ${part()}.`;
}

/** Every second word or so joins the others and tells nothing. */
function sentence(random, words) {
  const said = [pick(random, OPENINGS)];
  while (said.length < words) said.push(random() < 0.4 ? pick(random, LINKS) : content(random));
  return said.join(" ");
}

function content(random) {
  const wanted = random() * reach[reach.length - 1];
  let low = 0;
  let high = reach.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reach[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return vocabulary[low];
}

function pick(random, words) {
  return words[Math.floor(random() * words.length)];
}

/** Behind the words of the trade, names such as every project has its own of. */
function makeVocabulary() {
  const random = makeRandom(7);
  const words = new Set(COMMON);
  while (words.size < VOCABULARY) {
    words.add(Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(random, SYLLABLES)).join(""));
  }
  return [...words];
}

/** Up to where on the line each word reaches: the n-th is met 1 / (n + FLATTENED) as often. */
function makeReach() {
  let sum = 0;
  return Float64Array.from(vocabulary, (_, rank) => {
    sum += 1 / (rank + FLATTENED);
    return sum;
  });
}
