/** What the repository tells better than a memory could: file listings, git history, code. A hint, never a refusal. */

import type { Memory } from "../store/store.ts";
import type { Remark } from "./remark.ts";

/** A memory may name a file or two, and show a line of code: only what is mostly that is meant here. */
const MOSTLY = 0.6;
/** As many lines are a listing, and not an example. */
const MIN_LISTED = 4;
const MIN_COMMITS = 3;
const MIN_CODE_LINES = 8;

const PATH = "`?(?:\\.{0,2}/)?(?:[\\w.@-]+/)*[\\w.@-]+\\.[a-z]{1,5}`?";
const FOLDER = "`?(?:[\\w.@-]+/)+`?";
const LISTED = new RegExp(
  `^\\s*(?:(?:[-*+]|\\d{1,3}[.)])\\s+)?(?:\\*\\*)?(?:${PATH}|${FOLDER})(?:\\*\\*)?(?:\\s*$|\\s*(?:[-–—:(]|is\\b|holds\\b|contains\\b).{0,80}$)`,
);
const TREE = /^[\s│|]*(?:├|└|\|--|`--|\+--)/;
const LS = /^(?:total \d+|[-dl](?:[r-][w-][xsStT-]){3}[.@+]?\s+\d+\s)/;
const COMMIT = /^\s*(?:[-*+]\s+)?`?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}`?[\s:(]/;
const GIT_LOG = /^commit [0-9a-f]{7,40}\b/;
const STATUS = /^(?:[MADRCU?]{1,2}|modified:|new file:|deleted:|renamed:)\s+\S+(?:\s*->\s*\S+)?$/;
const DEFINED = new RegExp(
  `^(?:[-*+]\\s+)?(?:the\\s+)?\`?[\\w .$()-]{2,50}\`?\\s+(?:is|are|lives?|sits?)\\s+(?:(?:defined|implemented|located|declared|found)\\s+)?in\\s+${PATH}[.;]?$`,
  "i",
);
const PATHS_IN_ROW = new RegExp(`^(?:${PATH}(?:\\s+(?:and|or)\\s+|\\s*,\\s*(?:and\\s+)?)){3,}${PATH}`);

export function findDerivable({ body }: Memory): Remark[] {
  const { lines, code } = partsOf(body);
  const add = (line: number, what: string): Remark[] => [
    {
      rule: "derivable",
      message: `${what} can be seen in the repository, and changes there: keep what was surprising about it`,
      line,
    },
  ];
  const all = [...lines, ...code];
  const listed = all.filter(({ text }) => LISTED.test(text) || TREE.test(text) || LS.test(text));
  if (isMost(listed, all, MIN_LISTED)) return add(listed[0]?.line ?? 1, "a listing of files");
  const row = lines.find(({ text }) => PATHS_IN_ROW.test(text));
  if (row && lines.length <= 2) return add(row.line, "a listing of files");
  const commits = all.filter(({ text }) => COMMIT.test(text));
  if (isMost(commits, all, MIN_COMMITS)) return add(commits[0]?.line ?? 1, "git history");
  const logged = all.filter(({ text }) => GIT_LOG.test(text));
  if (logged.length >= 2) return add(logged[0]?.line ?? 1, "git history");
  const changed = all.filter(({ text }) => STATUS.test(text));
  if (isMost(changed, all, MIN_COMMITS)) return add(changed[0]?.line ?? 1, "the list of changed files");
  const defined = lines.filter(({ text }) => DEFINED.test(text.trim()));
  if (isMost(defined, all, 3)) return add(defined[0]?.line ?? 1, "where things are defined");
  if (isMost(code, all, MIN_CODE_LINES)) return add(code[0]?.line ?? 1, "code");
  return [];
}

interface Line {
  text: string;
  /** Of the body, from 1. */
  line: number;
}

function isMost(some: readonly Line[], all: readonly Line[], least: number): boolean {
  return some.length >= least && some.length >= MOSTLY * all.length;
}

/** The body up to its reasons, which say why it is kept, in prose and in code; commands to type are prose. */
function partsOf(body: string): { lines: Line[]; code: Line[] } {
  const lines: Line[] = [];
  const code: Line[] = [];
  let fence: { mark: string; isShell: boolean } | null = null;
  for (const [at, text] of body.split(/\r?\n/).entries()) {
    const [, mark, language = ""] = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/.exec(text) ?? [];
    if (mark !== undefined) {
      if (fence && mark.startsWith(fence.mark)) fence = null;
      else fence ??= { mark, isShell: /^(?:sh|bash|zsh|shell|console|fish|powershell)$/i.test(language) };
    } else if (!fence && /^\s*(?:\*\*(?:why|how to apply)|#{1,6}\s*(?:why|how to apply)\b)/i.test(text)) break;
    else if (text.trim() !== "") (fence && !fence.isShell ? code : lines).push({ text, line: at + 1 });
  }
  return { lines, code };
}
