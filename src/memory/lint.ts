/** Form and wording of memories and of the index: hints for people, never a reason to refuse or drop a file. */

import {
  fileKey,
  findName,
  INDEX_FILE,
  indexPath,
  isShared,
  lintEnforce,
  oneLine,
  parseIndexLine,
  parseMemory,
  peekIndex,
  type Row,
  readBytes,
  readReferences,
  type Store,
} from "../store/store.ts";
import { parseDocument } from "../text/frontmatter.ts";
import { blankComments, splitLines } from "../text/lines.ts";
import { findRelativeDates } from "../text/relative-dates.ts";
import { findSecrets } from "../text/secrets.ts";
import { openDeadReferences, removedKeys } from "./references.ts";
import { LONG_LINE } from "./save.ts";

/** Something wrong with the form or wording of a memory. */
export interface LintProblem {
  /** Path below the directory; `MEMORY.md` for the index. */
  file: string;
  /** Line in the file, from 1; null when it is about the whole file. */
  line: number | null;
  /** The short name of the rule, such as `description` or `format`. */
  rule: string;
  /** What is wrong and what to do, for people. */
  message: string;
}

/** More than this is more than one memory. */
const MAX_BODY_CHARS = 8000;

export async function lintDirectory(directory: Store): Promise<LintProblem[]> {
  const problems: LintProblem[] = [];
  const { rows } = await directory.rows();
  const deadOf = openDeadReferences(rows, removedKeys(directory));
  for (const row of rows) {
    for (const problem of await lintMemory(directory, row, deadOf)) problems.push(problem);
  }
  return [...problems, ...lintIndex(directory, new Set(rows.map(({ file }) => fileKey(file))))];
}

async function lintMemory(
  directory: Store,
  { file, modified }: Row,
  deadOf: ReturnType<typeof openDeadReferences>,
): Promise<LintProblem[]> {
  const found: LintProblem[] = [];
  const add = (rule: string, message: string, line: number | null = null) => found.push({ file, line, rule, message });
  let data: Buffer;
  try {
    data = readBytes(directory, file);
  } catch (error) {
    return [{ file, line: null, rule: "unreadable", message: (error as Error).message }];
  }
  const text = data.toString("utf8");
  const memory = parseMemory(file, data);
  for (const problem of memory.problems) add("format", problem);
  if (memory.metadata.name === undefined) add("name", "no name: the file's stem is used");
  if (memory.description === "" && !isStatement(memory))
    add("description", "no description: the index line says nothing, and recall finds it harder");
  if (memory.typeExplicit && (memory.type === "feedback" || memory.type === "project") && !isStatement(memory)) {
    if (!/\*\*why:?\*\*|^#+\s*why\b/im.test(memory.body))
      add("why", "no **Why:** line: without the reason an edge case cannot be judged");
    if (!/\*\*how to apply:?\*\*|^#+\s*how to apply\b/im.test(memory.body)) add("how", "no **How to apply:** line");
  }
  if (memory.body.length > MAX_BODY_CHARS)
    add("size", `${memory.body.length} characters: one memory per file, split it`);
  if (memory.type === "project") {
    // The row's date is that of the last commit in a repository, and never that of a checkout.
    const dates = await findRelativeDates(memory.body, new Date(memory.modified ?? memory.created ?? modified));
    for (const { line, words, date } of dates) {
      add("relative-date", `"${words}" meant ${date}: write the date`, line + linesAbove(text));
    }
  }
  for (const name of deadOf(memory)) {
    const field = memory.supersedes.includes(name) ? "supersedes" : "links";
    add("dead-link", `\`${field}\` refers to "${oneLine(name)}", but no memory has that name: correct or remove it`);
  }
  for (const problem of lintEnforce(memory, text, isShared(directory))) add("enforce", problem);
  for (const { rule, line } of findSecrets(text)) add("secret", `looks like a secret (${rule}): take it out`, line);
  return found;
}

/** How many lines stand before the body. */
function linesAbove(text: string): number {
  const region = text.slice(parseDocument(text).bodyStart);
  const start = text.length - region.trimStart().length;
  return text.slice(0, start).split("\n").length - 1;
}

function lintIndex(directory: Store, files: ReadonlySet<string>): LintProblem[] {
  const text = peekIndex(indexPath(directory));
  const found: LintProblem[] = [];
  let prose = 0;
  for (const [at, line] of splitLines(blankComments(text)).entries()) {
    const add = (rule: string, message: string) => found.push({ file: INDEX_FILE, line: at + 1, rule, message });
    const parsed = parseIndexLine(line);
    if (line.trimEnd().length > LONG_LINE)
      add("index-line-length", `${line.trimEnd().length} characters, keep it under ${LONG_LINE}`);
    if (parsed && !files.has(fileKey(parsed.file)) && findName(directory, parsed.file) === null)
      add("index-dangling", `points to ${parsed.file}, which does not exist`);
    if (
      readReferences(line).length === 0 &&
      line.trim() !== "" &&
      !/^(#{1,6}\s|<!--|---)/.test(line.trim()) &&
      ++prose === 4
    ) {
      add("index-prose", "the index holds text of its own: it is a list of pointers, put the text into a memory");
    }
  }
  return found;
}

/** What a person said in a sentence or two, and name and description repeat whole, needs no headings. */
function isStatement({ body, description, name }: ReturnType<typeof parseMemory>): boolean {
  const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const told = new Set(wordsOf(`${name} ${description}`));
  const said = wordsOf(body.replace(/\*\*why:\*\*|^the user says:/i, ""));
  // A long one is cut in the description.
  if (description.endsWith("…"))
    return !body.trim().includes("\n") && said.slice(0, wordsOf(description).length).every((word) => told.has(word));
  return said.length > 0 && said.every((word) => told.has(word));
}
