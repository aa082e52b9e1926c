/** What programs without types pass: options and arguments are checked, and what is wrong with one is said before anything is done. */

import { statSync } from "node:fs";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { OpenOptions as Settled } from "../open.ts";

/** How a memory is opened. All options are optional. */
export interface OpenOptions extends Omit<Settled, "cwd"> {
  /** The working directory of the project; the process's own by default. */
  cwd?: string | undefined;
}

/** Every option: one that is misspelt would silently do nothing. */
const OPTIONS: readonly string[] = Object.keys({
  ...{ cwd: 0, memoryDir: 0, scope: 0, env: 0, now: 0, log: 0, by: 0 },
  ...{ withOlder: 0, settingSources: 0, ask: 0, embed: 0 },
} satisfies Record<keyof OpenOptions, 0>);

/** What the types say, for programs without types. */
export function checkOptions(given: OpenOptions): void {
  const wrong = (field: string, what: string) => new MemdirError("usage", `openMemdir: ${field} must be ${what}`);
  if (typeof given !== "object" || given === null)
    throw wrong("the options", "an object, such as { cwd: process.cwd() }");
  const unknown = Object.keys(given).find((field) => !OPTIONS.includes(field));
  if (unknown !== undefined)
    throw new MemdirError("usage", `openMemdir: there is no option "${unknown}" (there are: ${OPTIONS.join(", ")})`);
  for (const field of ["cwd", "memoryDir", "scope", "by"] as const)
    if (given[field] !== undefined && (typeof given[field] !== "string" || given[field] === ""))
      throw wrong(field, "a text that is not empty; leave it out for the default");
  for (const field of ["ask", "embed", "now", "log"] as const)
    if (given[field] !== undefined && given[field] !== null && typeof given[field] !== "function")
      throw wrong(field, "a function");
  if (given.settingSources !== undefined && !isTexts(given.settingSources))
    throw wrong("settingSources", 'a list such as ["user", "project"]');
  if (given.now !== undefined && !Number.isFinite(given.now?.()?.getTime?.()))
    throw wrong("now", "a function that gives a Date");
  if (given.cwd !== undefined && !statSync(given.cwd, { throwIfNoEntry: false })?.isDirectory())
    throw wrong("cwd", `a folder that exists, and ${JSON.stringify(given.cwd)} is none`);
}

const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown, isOne: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isOne);
const isTexts = (value: unknown): boolean => isList(value, isText);
const isFunction = (value: unknown): boolean => typeof value === "function";
const isNumber = (value: unknown): boolean => typeof value === "number" && !Number.isNaN(value);

type Kind = readonly [isRight: (value: unknown) => boolean, what: string];

const KINDS = {
  text: [isText, "a text"],
  path: [(value) => isText(value) && value !== "" && !value.includes("\0"), "a path"],
  "text?": [(value) => value === undefined || isText(value), "a text, or left out"],
  "text or null": [(value) => value === null || isText(value), "a text or null"],
  list: [isTexts, "a list of texts"],
  object: [isObject, "an object"],
  options: [(value) => value === undefined || isObject(value), "an object, or left out"],
  store: [(value) => value === undefined || (isObject(value) && isText(value.path)), "one of `directories`"],
  prune: [
    (value) => isObject(value) && (!("files" in value) || isList(value.files, isObject)),
    "an object such as { files: [{ file, reason }], dryRun: true }",
  ],
  merge: [
    (value) =>
      isObject(value) &&
      isText(value.text) &&
      isObject(value.base) &&
      isText(value.base.keep) &&
      isText(value.base.other),
    "an object such as { text, base: { keep, other } }",
  ],
  wish: [
    (value) =>
      isObject(value) &&
      ["action", "type", "name", "description", "body", "by"].every((field) => isText(value[field])) &&
      isTexts(value.when),
    "an object such as { action, file, type, name, description, body, when, by }",
  ],
  "function?": [(value) => value === undefined || isFunction(value), "a function, or left out"],
  any: [() => true, ""],
} as const satisfies Readonly<Record<string, Kind>>;

/** What a field of options is, of whatever method: a name means the same in all of them. */
const FIELDS: Readonly<Record<string, Kind>> = {
  signal: [(value) => isObject(value) && isFunction(value.addEventListener), "an AbortSignal"],
  session: [(value) => isObject(value) && isFunction(value.isFull), "what openRecallSession() gives"],
  onProgress: [isFunction, "a function"],
  limit: [isNumber, "a number"],
  maxBytes: [isNumber, "a number"],
  timeoutMs: [isNumber, "a number"],
  budgetMs: [isNumber, "a number"],
  exclude: KINDS.list,
  messages: KINDS.list,
  addDirs: KINDS.list,
  only: KINDS.list,
  section: KINDS.text,
};

/** Arguments that nothing below checks; names of memories and what is saved are checked where they are used. */
const ARGUMENTS: Partial<Record<keyof Memdir, readonly (readonly [name: string, kind: keyof typeof KINDS])[]>> = {
  save: [["request", "object"]],
  list: [["filter", "options"]],
  edit: [
    ["name", "any"],
    ["base", "text"],
    ["text", "text"],
    ["options", "options"],
  ],
  put: [
    ["path", "path"],
    ["text", "text"],
    ["base", "text or null"],
    ["options", "options"],
  ],
  forget: [
    ["name", "any"],
    ["options", "options"],
  ],
  merge: [
    ["keep", "any"],
    ["other", "any"],
    ["request", "merge"],
  ],
  prune: [["request", "prune"]],
  trust: [["options", "object"]],
  history: [["name", "text?"]],
  undo: [["id", "text?"]],
  search: [["words", "text"]],
  recall: [
    ["prompt", "text"],
    ["options", "options"],
  ],
  prefetch: [
    ["prompt", "text"],
    ["options", "options"],
  ],
  warm: [["options", "options"]],
  prompt: [["options", "options"]],
  instructions: [["options", "options"]],
  context: [
    ["touched", "list"],
    ["options", "options"],
  ],
  verify: [
    ["name", "any"],
    ["options", "options"],
  ],
  measure: [
    ["directory", "store"],
    ["onProgress", "function?"],
  ],
  propose: [
    ["team", "store"],
    ["wish", "wish"],
  ],
  adopt: [["from", "path"]],
};

export function checkArguments(memdir: Memdir): Memdir {
  const checked = Object.entries(ARGUMENTS).map(([method, places]) => {
    const call = memdir[method as keyof Memdir] as (...given: unknown[]) => Promise<unknown>;
    const run = async (...given: unknown[]) => {
      for (const [i, [name, kind]] of places.entries()) check(method, name, kind, given[i]);
      return call(...given);
    };
    return [method, run];
  });
  const all = { ...memdir, ...Object.fromEntries(checked) } as Memdir;
  // It rejects for nothing: an agent goes on without memories.
  const recall: Memdir["recall"] = (...given) =>
    all.recall(...given).catch(async (error: Error) => ({
      ...(await memdir.recall("")),
      warnings: [`recall failed: ${error.message}`],
    }));
  return { ...all, recall };
}

/** Throws for what an argument cannot be, or a field of options. */
export function check(caller: string, name: string, kind: keyof typeof KINDS, value: unknown): void {
  const [isRight, what] = KINDS[kind];
  if (!isRight(value)) throw new MemdirError("usage", `${caller}: ${name} must be ${what}`);
  if (!isObject(value) || kind === "store") return;
  for (const [field, each] of Object.entries(value)) {
    const [isFit, wanted] = FIELDS[field] ?? [(given) => typeof given !== "symbol", "what its type says"];
    if (each !== undefined && !isFit(each))
      throw new MemdirError("usage", `${caller}: \`${field}\` must be ${wanted}; leave it out for the default`);
  }
}
