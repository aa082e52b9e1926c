/** What `verify` found in the stores, as figures: how much is stale, since when, and in which memories. */

import { quantiles } from "./count.mjs";
import { share, sum, tally, value } from "./tally.mjs";

const DAY = 86_400;
/** As `verify` without --all: surer than this is shown. */
const SHOWN = 0.6;
/** Fewer files are not a project whose code a memory could be checked against. */
const MIN_CODE = 5;
const REFS = new Set(["branch", "tag", "commit"]);
const AGES = [
  ["up to 7 days", 0, 7],
  ["8 to 30 days", 8, 30],
  ["31 to 90 days", 31, 90],
  ["over 90 days", 91, Number.POSITIVE_INFINITY],
];
const ORDERS = {
  after: "after it was written",
  with: "by the commit that wrote it",
  before: "before it was written",
  unknown: "not known",
};

export function countTruth(stores) {
  const checked = stores.filter(({ truth, codeFiles, isShallow }) => truth && codeFiles >= MIN_CODE && !isShallow);
  const memories = checked.flatMap((store) => store.memories.map((memory) => ({ ...memory, store })));
  const naming = sum(checked.map(({ truth }) => truth.memories.filter(({ claims }) => claims > 0).length));
  const shown = checked.flatMap(({ truth }) => truth.problems).filter(({ confidence }) => confidence >= SHOWN);
  const isStale = ({ store, file }) =>
    store.truth.problems.some((each) => each.file === file && each.confidence >= SHOWN);
  const stale = (some) => share(some.filter(isStale).length, some.length);
  const shares = checked
    .filter((store) => store.memories.length >= 5)
    .map((store) => stale(store.memories.map((memory) => ({ ...memory, store }))).percent);
  const withGone = checked.filter((store) => store.memories.some((memory) => isStale({ ...memory, store })));
  return {
    "stores checked against their code": share(checked.length, stores.length),
    "memories checked": value(memories.length),
    "memories that name something checkable": share(naming, memories.length),
    "things named and looked up": value(
      sum(checked.flatMap(({ truth }) => truth.memories.map(({ claims }) => claims))),
    ),
    "memories with a stale claim (confidence 0.6 or more)": stale(memories),
    "stale share in percent of a store with 5 or more (median, p90, max)": value(
      quantiles(shares, [0.5, 0.9, 1]),
      shares.length,
    ),
    "stores with a stale memory": share(withGone.length, checked.length),
    "stale claims": value(shown.length),
    "stale claims by kind": tally(shown.map(({ what, verdict }) => `${what} ${verdict}`)),
    ...countFindings(checked, memories.length),
    ...countStale(memories, stale),
  };
}

/** Everything, the uncertain included; `n`: how many memories were checked. */
function countFindings(checked, n) {
  const problems = checked.flatMap(({ truth }) => truth.problems);
  const things = problems.filter(isThing);
  return {
    "paths, names and commands that were removed, moved or changed: when": tally(
      things.map(({ order }) => ORDERS[order]),
    ),
    "the same, without the store that has the most of them": tally(
      checked
        .map(({ truth }) => truth.problems.filter(isThing))
        .sort((a, b) => b.length - a.length)
        .slice(1)
        .flat()
        .map(({ order }) => ORDERS[order]),
    ),
    "went after it was written, by kind": tally(
      things
        .filter(({ order, confidence }) => order === "after" && confidence >= SHOWN)
        .map(({ what, verdict }) => `${what} ${verdict}`),
    ),
    "already gone when it was written, by kind": tally(
      things.filter(({ order }) => order === "before").map(({ what, verdict }) => `${what} ${verdict}`),
    ),
    "deadlines passed at the newest commit, set when they were still ahead": value(
      problems.filter(({ what, order }) => what === "date" && order === "after").length,
      n,
    ),
    "plans for something that exists by now": value(
      problems.filter(({ verdict, order }) => verdict === "built" && order === "after").length,
      n,
    ),
    "branches, tags and commits that are not there": value(problems.filter(({ what }) => REFS.has(what)).length, n),
  };
}

function isThing({ what, verdict }) {
  return !REFS.has(what) && what !== "date" && what !== "link" && verdict !== "built";
}

function countStale(memories, stale) {
  const ageOf = ({ store, added }) => (added === null ? null : Math.round((store.head - added) / DAY));
  return {
    ...Object.fromEntries(
      AGES.map(([name, from, to]) => [
        `stale, ${name} old`,
        stale(memories.filter((memory) => ageOf(memory) !== null && ageOf(memory) >= from && ageOf(memory) <= to)),
      ]),
    ),
    ...Object.fromEntries(
      ["feedback", "project", "reference", "user", "none"].map((type) => [
        `stale, type ${type}`,
        stale(memories.filter((memory) => memory.type === type)),
      ]),
    ),
    ...Object.fromEntries(
      [...new Set(memories.map(({ store }) => store.group))].map((group) => [
        `stale, folder ${group}`,
        stale(memories.filter(({ store }) => store.group === group)),
      ]),
    ),
    "stale, never edited": stale(memories.filter(({ edits }) => edits === 0)),
    "stale, edited": stale(memories.filter(({ edits }) => edits > 0)),
  };
}
