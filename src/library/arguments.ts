/** What programs without types pass: options and arguments are checked, and what is wrong with one is said before anything is done. */

import { statSync } from "node:fs";
import { isObject, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { OpenOptions as Settled } from "../open.ts";

/** How a memory is opened. All options are optional. */
export interface OpenOptions extends Omit<Settled, "cwd"> {
  /** The working directory of the project; the process's own by default. */
  cwd?: string | undefined;
}

const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();
const isList = (value: unknown, isOne: Test): boolean => Array.isArray(value) && value.every(isOne);
const isTexts: Test = (value) => isList(value, isText);
const isFunction: Test = (value) => typeof value === "function";
const isNumber: Test = (value) => typeof value === "number" && value >= 0;
/** An object with these fields, and perhaps others. */
const has =
  (fields: Readonly<Record<string, Test>>): Test =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([field, isRight]) => isRight(value[field]));

type Test = (value: unknown) => boolean;
type Kind = readonly [isRight: Test, what: string];

const WISH = { action: isText, type: isText, name: isText, description: isText, body: isText, by: isText };

const KINDS = {
  text: [isText, "a text"],
  path: [(value) => isText(value) && value !== "" && !value.includes("\0"), "a path"],
  filled: [(value) => isText(value) && value.trim() !== "", "a text that is not empty"],
  way: [(value) => ["separate", "share", "keep"].includes(value as string), '"separate", "share" or "keep"'],
  "text?": [(value) => value === undefined || isText(value), "a text, or left out"],
  "text or null": [(value) => value === null || isText(value), "a text or null"],
  list: [isTexts, "a list of texts"],
  object: [isObject, "an object"],
  options: [(value) => value === undefined || isObject(value), "an object, or left out"],
  store: [(value) => value === undefined || has({ path: isText })(value), "one of `directories`"],
  prune: [
    (value) => isObject(value) && (!("files" in value) || isList(value.files, isObject)),
    "an object such as { files: [{ file, reason }], dryRun: true }",
  ],
  merge: [
    has({ text: isText, base: has({ keep: isText, other: isText }) }),
    "an object such as { text, base: { keep, other } }",
  ],
  wish: [
    has({ ...WISH, when: isTexts }),
    "an object such as { action, file, type, name, description, body, when, by }",
  ],
  "function?": [(value) => value === undefined || isFunction(value), "a function, or left out"],
  any: [() => true, ""],
} as const satisfies Readonly<Record<string, Kind>>;

const FILLED: Kind = [
  (value) => typeof value === "string" && value !== "",
  "a text that is not empty; leave it out for the default",
];
const CALLED: Kind = [(value) => value === null || isFunction(value), "a function"];

/** Every option: one that is misspelt would silently do nothing. */
const OPTIONS: Readonly<Record<keyof OpenOptions, Kind>> = {
  ...{ cwd: FILLED, memoryDir: FILLED, scope: FILLED, env: KINDS.any, now: CALLED, log: CALLED, by: FILLED },
  ...{ withOlder: KINDS.any, settingSources: [isTexts, 'a list such as ["user", "project"]'] },
  ...{ ask: CALLED, embed: CALLED },
};

/** What the types say, for programs without types. */
export function checkOptions(given: OpenOptions): void {
  const isRight: boolean = isObject(given);
  const wrong = (field: string, what: string) => new MemdirError("usage", `openMemdir: ${field} must be ${what}`);
  if (!isRight) throw wrong("the options", "an object, such as { cwd: process.cwd() }");
  for (const [field, value] of Object.entries(given)) {
    const kind = Object.hasOwn(OPTIONS, field) ? OPTIONS[field as keyof OpenOptions] : null;
    const known = Object.keys(OPTIONS).join(", ");
    if (!kind) throw new MemdirError("usage", `openMemdir: there is no option "${field}" (there are: ${known})`);
    if (value !== undefined && !kind[0](value)) throw wrong(field, kind[1]);
  }
  if (given.now !== undefined && !Number.isFinite(given.now?.()?.getTime?.()))
    throw wrong("now", "a function that gives a Date");
  if (given.cwd !== undefined && !statSync(given.cwd, { throwIfNoEntry: false })?.isDirectory())
    throw wrong("cwd", `a folder that exists, and ${JSON.stringify(given.cwd)} is none`);
}

/** What a field of options is, of whatever method: a name means the same in all of them. */
const FIELDS: Readonly<Record<string, Kind>> = {
  signal: [has({ addEventListener: isFunction }), "an AbortSignal"],
  session: [has({ isFull: isFunction }), "what openRecallSession() gives"],
  onProgress: [isFunction, "a function"],
  limit: [isNumber, "a number from 0"],
  maxBytes: [isNumber, "a number from 0"],
  timeoutMs: [isNumber, "a number from 0"],
  budgetMs: [isNumber, "a number from 0"],
  exclude: KINDS.list,
  messages: KINDS.list,
  addDirs: KINDS.list,
  only: KINDS.list,
  section: KINDS.text,
};

/** Arguments in their order that nothing below checks; names of memories and what is saved are checked where they are used. */
const ARGUMENTS: Partial<Record<keyof Memdir, Readonly<Record<string, keyof typeof KINDS>>>> = {
  save: { request: "object" },
  list: { filter: "options" },
  edit: { name: "any", base: "text", text: "text", options: "options" },
  put: { path: "path", text: "text", base: "text or null", options: "options" },
  forget: { name: "any", options: "options" },
  merge: { keep: "any", other: "any", request: "merge" },
  prune: { request: "prune" },
  trust: { options: "object" },
  history: { name: "text?" },
  undo: { id: "text?" },
  search: { words: "text" },
  recall: { prompt: "text", options: "options" },
  prefetch: { prompt: "text", options: "options" },
  warm: { options: "options" },
  prompt: { options: "options" },
  instructions: { options: "options" },
  context: { touched: "list", options: "options" },
  verify: { name: "any", options: "options" },
  measure: { directory: "store", onProgress: "function?" },
  propose: { team: "store", wish: "wish" },
  adopt: { from: "path" },
  permit: { kind: "filled" },
  settle: { way: "way" },
  ...{ survey: {}, index: {}, rebuildIndex: {}, lint: {}, doctor: {}, findAdoptable: {}, approveImports: {} },
};

/** They answer at once: what is wrong is thrown there and then. */
const AT_ONCE: ReadonlySet<string> = new Set<keyof Memdir>(["permit", "approveImports"]);

export function checkArguments(memdir: Memdir): Memdir {
  const checked = Object.entries(ARGUMENTS).map(([method, places]) => {
    const call = memdir[method as keyof Memdir] as (...given: unknown[]) => unknown;
    const kinds = Object.entries(places);
    const run = (...given: unknown[]) => {
      for (const [i, [name, kind]] of kinds.entries()) check(method, name, kind, given[i]);
      if (kinds.length === 0 && given.some((value) => value !== undefined))
        throw new MemdirError("usage", `${method}: it takes no argument`);
      return call(...given);
    };
    return [method, AT_ONCE.has(method) ? run : async (...given: unknown[]) => run(...given)];
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
