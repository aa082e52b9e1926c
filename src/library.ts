/** What a program gets: a Memdir, with every verb of the table as a typed method, and the tools for a model. */

import { statSync } from "node:fs";
import { processEnv } from "./config.ts";
import { MemdirError } from "./errors.ts";
import type { ToolCall } from "./mcp/tool.ts";
import type { Memdir } from "./memdir.ts";
import { openMemdir as open, type OpenOptions as Settled } from "./open.ts";
import { bindVerbs, type Verbs } from "./verbs/table.ts";

/** How a memory is opened; all of it may be left out. */
export interface OpenOptions extends Omit<Settled, "cwd"> {
  /** The working directory whose project is meant; the process's own unless given. */
  cwd?: string | undefined;
}

/** What `openMemdir` gives: the memory of one project. It holds no files or processes open and needs no closing. */
export interface Library extends Memdir {
  /** Every command of the command line, such as `memdir.verbs.check()`, with the same input and the same result. */
  readonly verbs: Verbs;
  /** What a model may do with memories, as tools for any SDK. `memdir/ai` and `memdir/anthropic` give them in the shapes of theirs. */
  tools(options?: ToolsOptions): Promise<MemoryTool[]>;
}

/** The names of the tools for a model. */
export type MemoryToolName = "recall" | "save" | "read" | "list" | "forget" | "undo" | "verify";

/** Which tools a model gets. */
export interface ToolsOptions<Name extends MemoryToolName = MemoryToolName> {
  /** Only these tools; all of them unless given. */
  only?: readonly Name[] | undefined;
}

/** A tool for a model: its words, the JSON Schema of its input, and what it does. */
export interface MemoryTool {
  name: MemoryToolName;
  /** A short title for people. */
  title: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** JSON Schema of its input. */
  inputSchema: {
    type: "object";
    properties: Record<string, unknown>;
    required: string[];
    additionalProperties: boolean;
  };
  /** Whether it changes nothing. */
  readOnly: boolean;
  /**
   * Runs it on what the model sent, whatever that is: the input is checked here. Returns text for the model. Throws a
   * `MemdirError` whose message tells the model what to do instead. Calls may overlap; each sees what was written before it.
   */
  run(input: unknown, options?: { signal?: AbortSignal | null | undefined }): Promise<string>;
}

/**
 * Opens the memory of a project: of the process's own directory unless `cwd` says another.
 *
 * @example
 * const memdir = await openMemdir();
 * await memdir.save({ type: "feedback", name: "use pnpm", body: "Use pnpm, never npm." });
 */
export async function openMemdir(given: OpenOptions = {}): Promise<Library> {
  checkOptions(given);
  const options = { ...given, cwd: given.cwd ?? process.cwd() };
  const memdir = await open(options);
  const { env = processEnv(), now = () => new Date(), log = () => {} } = options;
  const world = { env, now, log, cwd: memdir.location.project.cwd };
  const reopen = (more: Partial<Settled>) => open({ ...options, ...more });
  const isFixed = options.scope !== undefined || options.memoryDir !== undefined;
  return {
    ...checkArguments(memdir),
    verbs: bindVerbs(memdir, { ...world, open: reopen }),
    tools: ({ only } = {}) => openTools(memdir, { ...world, open: isFixed ? null : reopen }, only),
  };
}

/** What the types say, for programs without types. */
function checkOptions(given: OpenOptions): void {
  const wrong = (field: string, what: string) => new MemdirError("usage", `openMemdir: ${field} must be ${what}`);
  if (typeof given !== "object" || given === null)
    throw wrong("the options", "an object, such as { cwd: process.cwd() }");
  for (const field of ["cwd", "memoryDir", "scope", "by"] as const)
    if (given[field] !== undefined && (typeof given[field] !== "string" || given[field] === ""))
      throw wrong(field, "a text that is not empty; leave it out for the default");
  for (const field of ["ask", "embed", "now", "log"] as const)
    if (given[field] !== undefined && given[field] !== null && typeof given[field] !== "function")
      throw wrong(field, "a function");
  if (given.cwd !== undefined && !statSync(given.cwd, { throwIfNoEntry: false })?.isDirectory())
    throw wrong("cwd", `a folder that exists, and ${JSON.stringify(given.cwd)} is none`);
}

const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed();

const KINDS = {
  text: [isText, "a text"],
  path: [(value: unknown) => isText(value) && value !== "" && !value.includes("\0"), "a path"],
  "text?": [(value: unknown) => value === undefined || isText(value), "a text, or left out"],
  "text or null": [(value: unknown) => value === null || isText(value), "a text or null"],
  list: [(value: unknown) => Array.isArray(value) && value.every(isText), "a list of texts"],
  object: [(value: unknown) => typeof value === "object" && value !== null, "an object"],
  any: [() => true, ""],
} as const satisfies Readonly<Record<string, readonly [(value: unknown) => boolean, string]>>;

/** Arguments that nothing below checks; names of memories and what is saved are checked where they are used. */
const ARGUMENTS: Partial<Record<keyof Memdir, readonly (readonly [name: string, kind: keyof typeof KINDS])[]>> = {
  edit: [
    ["name", "any"],
    ["base", "text"],
    ["text", "text"],
  ],
  put: [
    ["path", "path"],
    ["text", "text"],
    ["base", "text or null"],
  ],
  prune: [["request", "object"]],
  history: [["name", "text?"]],
  undo: [["id", "text?"]],
  search: [["words", "text"]],
  prefetch: [["prompt", "text"]],
  adopt: [["from", "path"]],
  context: [["touched", "list"]],
};

function checkArguments(memdir: Memdir): Memdir {
  const checked = Object.entries(ARGUMENTS).map(([method, places]) => {
    const call = memdir[method as keyof Memdir] as (...given: unknown[]) => Promise<unknown>;
    const run = async (...given: unknown[]) => {
      for (const [i, [name, kind]] of places.entries()) {
        const [isRight, what] = KINDS[kind];
        if (!isRight(given[i])) throw new MemdirError("usage", `${method}: ${name} must be ${what}`);
      }
      return call(...given);
    };
    return [method, run];
  });
  return { ...memdir, ...Object.fromEntries(checked) };
}

interface ToolsWorld extends Pick<ToolCall, "env" | "now" | "log" | "cwd"> {
  /** Opens another scope; null where the program has chosen the one there is. */
  open: ((more: { scope?: string }) => Promise<Memdir>) | null;
}

async function openTools(memdir: Memdir, { open, ...world }: ToolsWorld, only?: readonly string[]) {
  const { MODEL_TOOLS, openOrder } = await import("./mcp/tools.ts");
  const inOrder = openOrder();
  const names = MODEL_TOOLS.map(({ spec }) => spec.name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new MemdirError("usage", `there is no tool "${unknown}"; there are: ${names.join(", ")}`);
  const call: Omit<ToolCall, "signal"> = {
    ...world,
    by: memdir.directories[0]?.by ?? "library",
    renew: () => {},
    open: async (scope) => {
      if (memdir.config.disabled !== null)
        throw new MemdirError("usage", `memory is switched off for this project: ${memdir.config.disabled}`);
      if (scope === undefined) return memdir;
      if (!open) throw new MemdirError("usage", "leave `scope` out: these memories have one scope only");
      return open({ scope });
    },
  };
  const tools = MODEL_TOOLS.filter(({ spec }) => !only || only.includes(spec.name));
  return tools.map(({ spec, run }): MemoryTool => {
    const { name, title, description, annotations } = spec;
    const inputSchema = spec.inputSchema as MemoryTool["inputSchema"];
    const { scope: _, ...unscoped } = inputSchema.properties;
    return {
      ...{ name: name as MemoryToolName, title, description, readOnly: annotations.readOnlyHint },
      inputSchema: open ? inputSchema : { ...inputSchema, properties: unscoped },
      async run(input, { signal } = {}) {
        const asked = { ...call, signal: signal ?? new AbortController().signal };
        const { text } = await inOrder(annotations.readOnlyHint, async () => {
          asked.signal.throwIfAborted();
          return run(asked, (input ?? {}) as Record<string, unknown>);
        });
        return text;
      },
    };
  });
}
