/** From measured stores to figures: each has a value and its base `n`. Used by scripts/field-report.mjs. */

import { quantiles } from "./count.mjs";
import { share, sum, tally, value } from "./tally.mjs";
import { countTruth } from "./truth.mjs";

const DAY = 86_400;
/** Smaller stores share a memory by chance. */
const MIN_FORK = 3;

/** Leaves out stores that hold mostly the memories of one before them: forks, templates and renamed copies. */
export function withoutForks(stores) {
  const seen = new Set();
  return stores.filter(({ memories }) => {
    const digests = memories.map(({ digest }) => digest);
    const isFork = digests.length >= MIN_FORK && digests.filter((each) => seen.has(each)).length * 2 >= digests.length;
    for (const digest of digests) seen.add(digest);
    return !isFork;
  });
}

/** `measured`: what store.mjs returned for each repository, with the number of the folder it came from. */
export function figuresOf(measured) {
  const found = measured.filter(({ store }) => store).map(({ store, group }) => ({ ...store, group }));
  const distinct = withoutForks(found);
  const stores = distinct.filter(({ memories }) => memories.length > 0);
  const memories = stores.flatMap((store) => store.memories.map((memory) => ({ ...memory, store })));
  return {
    ...countStores(measured, found, distinct, stores),
    ...countTexts(memories),
    ...countLinks(memories),
    ...countHistory(stores, memories),
    ...countIndexes(distinct, stores),
    ...countTruth(stores),
    ...countRest(stores, memories, distinct),
  };
}

function countStores(measured, found, distinct, stores) {
  const groups = [...new Set(measured.map(({ group }) => group))];
  const sizes = (some) => quantiles(some.map(({ memories }) => memories.length));
  const all = stores.reduce((sum, { memories }) => sum + memories.length, 0);
  const largest = stores.map(({ memories }) => memories.length).sort((a, b) => b - a);
  return {
    "repositories examined": value(measured.length),
    "without a store at the newest commit, or not readable": value(measured.length - found.length, measured.length),
    "left out as a copy of another store": value(found.length - distinct.length, found.length),
    "stores with an index and nothing else": share(distinct.length - stores.length, distinct.length),
    "stores with memories": value(stores.length),
    memories: value(all),
    "memories in the five largest stores": share(sum(largest.slice(0, 5)), all),
    "place of the store": tally(stores.map(({ place }) => place)),
    "memories per store (median, p90, p99, max)": value(sizes(stores), stores.length),
    ...Object.fromEntries(
      groups.map((group) => {
        const some = stores.filter((store) => store.group === group);
        return [`memories per store, folder ${group} (median, p90, p99, max)`, value(sizes(some), some.length)];
      }),
    ),
    "newest commit of the repositories (first, median, last)": value(
      quantiles(
        stores.map(({ head }) => head),
        [0, 0.5, 1],
      ).map((time) => new Date(time * 1000).toISOString().slice(0, 10)),
      stores.length,
    ),
  };
}

function countTexts(memories) {
  const n = memories.length;
  const bytes = memories.map((memory) => memory.bytes);
  const types = ["feedback", "project", "reference", "user", "none"];
  const asks = (type, part) => {
    const some = memories.filter((memory) => memory.type === type);
    return share(some.filter((memory) => memory[part]).length, some.length);
  };
  const isForeign = ({ language }) => language !== "English" && language !== "undetermined";
  return {
    "bytes of a memory (median, p90, p99, max)": value(quantiles(bytes), n),
    "over 4 KB": share(bytes.filter((each) => each > 4096).length, n),
    "over 8 KB": share(bytes.filter((each) => each > 8192).length, n),
    "with frontmatter": share(memories.filter(({ hasFrontmatter }) => hasFrontmatter).length, n),
    "with a description": share(memories.filter(({ hasDescription }) => hasDescription).length, n),
    type: tally(memories.map(({ type }) => type)),
    language: tally(memories.map(({ language }) => language)),
    "not English": share(
      memories.filter(isForeign).length,
      memories.filter(({ language }) => language !== "undetermined").length,
    ),
    ...Object.fromEntries(
      types.flatMap((type) => [
        [`with a Why, ${type}`, asks(type, "hasWhy")],
        [`with a How to apply, ${type}`, asks(type, "hasHow")],
      ]),
    ),
  };
}

function countLinks(memories) {
  const total = (key) => sum(memories.map((memory) => memory[key]));
  const having = (key) => memories.filter((memory) => memory[key] > 0).length;
  return {
    "memories with a [[wiki]] link": share(having("wiki"), memories.length),
    "dead [[wiki]] links": share(total("deadWiki"), total("wiki")),
    "memories with a relative Markdown link": share(having("markdown"), memories.length),
    "dead relative Markdown links": share(total("deadMarkdown"), total("markdown")),
  };
}

/** A store that was committed once has no history to read. */
function countHistory(stores, memories) {
  const lived = stores.filter(({ isShallow, storeCommits }) => !isShallow && storeCommits > 1);
  const dated = memories.filter(({ store, added }) => lived.includes(store) && added !== null);
  const ageOf = ({ store, added }) => Math.max(0, (store.head - added) / DAY);
  const never = (some) => share(some.filter(({ edits }) => edits === 0).length, some.length);
  const edited = dated.filter(({ edits }) => edits > 0);
  const gap = ({ added, edited: last }) => Math.round((last - added) / DAY);
  return {
    "stores committed more than once": share(lived.length, stores.length),
    "commits that touched the store (median, p90, p99, max)": value(
      quantiles(lived.map(({ storeCommits }) => storeCommits)),
      lived.length,
    ),
    "age in days at the newest commit (median, p90, p99, max)": value(
      quantiles(dated.map((memory) => Math.round(ageOf(memory)))),
      dated.length,
    ),
    "never edited": never(dated),
    "never edited, 30 days or older": never(dated.filter((memory) => ageOf(memory) >= 30)),
    "edits of an edited memory (median, p90, p99, max)": value(
      quantiles(edited.map(({ edits }) => edits)),
      edited.length,
    ),
    "days from writing to the last edit (median, p90, p99, max)": value(quantiles(edited.map(gap)), edited.length),
    "bytes of a memory that was edited (median, p90, p99, max)": value(
      quantiles(edited.map(({ bytes }) => bytes)),
      edited.length,
    ),
    "bytes of a memory that was never edited (median, p90, p99, max)": value(
      quantiles(dated.filter(({ edits }) => edits === 0).map(({ bytes }) => bytes)),
      dated.length - edited.length,
    ),
    "edited last on the day it was written": share(edited.filter((memory) => gap(memory) < 1).length, edited.length),
  };
}

function countIndexes(distinct, stores) {
  const indexed = stores.filter(({ index }) => index !== null);
  const all = distinct.filter(({ index }) => index !== null).map(({ index }) => index);
  const total = (key) => sum(indexed.map(({ index }) => index[key]));
  const listed = sum(indexed.map(({ memories }) => memories.length));
  return {
    "stores with memories that have an index": share(indexed.length, stores.length),
    "index lines (median, p90, p99, max)": value(quantiles(all.map(({ lines }) => lines)), all.length),
    "index characters (median, p90, p99, max)": value(quantiles(all.map(({ chars }) => chars)), all.length),
    "indexes over the cap of 200 lines or 25,000 characters": share(
      all.filter(({ isOver }) => isOver).length,
      all.length,
    ),
    "indexes with a line over 200 characters": share(all.filter(({ longLines }) => longLines > 0).length, all.length),
    "memories that the index does not name": share(total("missing"), listed),
    "stores whose index misses a memory": share(
      indexed.filter(({ index }) => index.missing > 0).length,
      indexed.length,
    ),
    "index links to a missing file": value(total("dangling"), indexed.length),
    "stores whose index has such a link": share(
      indexed.filter(({ index }) => index.dangling > 0).length,
      indexed.length,
    ),
  };
}

function countRest(stores, memories, distinct) {
  const logs = memories.filter(({ log }) => log);
  const isLeaking = ({ memories: own, index }) => own.some(({ secrets }) => secrets > 0) || (index?.secrets ?? 0) > 0;
  return {
    "work logs": share(logs.length, memories.length),
    "work logs by sign": tally(logs.map(({ log }) => log)),
    "bytes in work logs": share(sum(logs.map(({ bytes }) => bytes)), sum(memories.map(({ bytes }) => bytes))),
    "stores with a work log": share(
      stores.filter((store) => store.memories.some(({ log }) => log)).length,
      stores.length,
    ),
    "pairs with the same body": value(sum(stores.map(({ doubles }) => doubles.exact)), memories.length),
    "pairs that share half of their words": value(sum(stores.map(({ doubles }) => doubles.near)), memories.length),
    "stores with such a pair": share(
      stores.filter(({ doubles }) => doubles.exact + doubles.near > 0).length,
      stores.length,
    ),
    "what looks like a secret": value(
      sum([...memories.map(({ secrets }) => secrets), ...distinct.map(({ index }) => index?.secrets ?? 0)]),
      memories.length,
    ),
    "memories with such a finding": share(memories.filter(({ secrets }) => secrets > 0).length, memories.length),
    "stores with such a finding": share(distinct.filter(isLeaking).length, distinct.length),
  };
}

export function formatTable(figures) {
  const rows = Object.entries(figures).map(([name, { value: what, n, percent }]) => {
    const said = percent === undefined ? say(what, n) : percent === null ? "none" : `${percent} % (${what})`;
    return `| ${name} | ${said} | ${n ?? ""} |`;
  });
  return ["| figure | value | n |", "|---|---|---|", ...rows, ""].join("\n");
}

function say(what, n) {
  if (Array.isArray(what)) return what.join(" · ");
  if (typeof what !== "object") return String(what);
  return Object.entries(what)
    .map(([name, count]) => `${name} ${count} (${Math.round((1000 * count) / n) / 10} %)`)
    .join(", ");
}
