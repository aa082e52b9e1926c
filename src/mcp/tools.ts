/** The tools of a model, through MCP or an SDK: verbs of the table, with their results as a model and a program read them, made harmless to show. */

import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { buildSchema, type Fields, filled, flag, type Input, number, readInput, required, text } from "../input.ts";
import { wishToForget } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { findNamed } from "../memory/memories.ts";
import type { SaveRequest } from "../memory/save.ts";
import { MCP_TOOL_WORDS, NO_CUES_NOTICE, NOTHING_RECALLED } from "../prompts/mcp.ts";
import { cutContent, neutralise, neutraliseLine } from "../recall/neutral.ts";
import { ageInWords, fileNameFor, findAuthor, noteLeft, parseMemory, type Store } from "../store/store.ts";
import { groupByCause } from "../truth/problems.ts";
import { type Context, count, countMemories, silent, type Verb } from "../verb.ts";
import { forget, undo } from "../verbs/forget.ts";
import { list, show } from "../verbs/list.ts";
import { recall } from "../verbs/recall.ts";
import { save } from "../verbs/save.ts";
import { verify } from "../verbs/verify.ts";
import type { World } from "../world.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };
const TEXTS = { type: "array", items: TEXT };
const UNDO = { type: ["string", "null"], description: "For `undo`" };
const SCOPE = text();

const DEFAULT_RECALLED = 5;
const MAX_RECALLED = 20;
const DEFAULT_LISTED = 100;
const MAX_LISTED = 500;
/** Hosts cut results of more than about 25,000 tokens, without saying where. */
const MAX_BYTES = 40_000;
const MAX_READ_LINES = 2_000;

const ROW = {
  file: { ...TEXT, description: "Its name for `read` and `forget`" },
  scope: TEXT,
  type: TEXT,
  name: TEXT,
  description: TEXT,
  modified: { ...TEXT, description: "ISO time that the age counts from" },
  ageDays: COUNT,
  age: { ...TEXT, enum: ["fresh", "recent", "stale", "old"] },
};

function several(properties: Readonly<Record<string, Shape>>): Shape {
  return { type: "array", items: { type: "object", properties } };
}

export const MODEL_TOOLS: readonly ModelTool[] = [
  makeTool({
    name: "recall",
    verb: recall,
    fields: { prompt: required(filled(recall.input.prompt)), limit: number("", { min: 1, max: MAX_RECALLED }) },
    // A host does not wait until the meaning of every memory is known.
    fixed: { "max-bytes": MAX_BYTES, "no-wait": true },
    alwaysLoad: true,
    async run(memdir, { limit = DEFAULT_RECALLED, ...input }, context) {
      const found = await recall.run(memdir, { ...input, limit }, context);
      const { path, now } = memdir.directories[0] as Store;
      // Loaded here: whoever only saves or lists needs nothing of ranking.
      const { logSurfaced } = await import("../recall/surface-log.ts");
      logSurfaced(path, { at: now(), session: null, door: "mcp", prompt: input.prompt, memories: found.memories });
      return found;
    },
    say: (_, { text }) => text || NOTHING_RECALLED,
  }),
  makeTool({
    name: "save",
    verb: save,
    fields: {
      type: required(save.input.type),
      name: required(filled(save.input.name)),
      description: required(filled(save.input.description)),
      body: required(filled(save.input.text)),
      scope: SCOPE,
      reason: save.input.reason,
      replace: flag(),
      expires: save.input.expires,
      when: save.input.when,
    },
    // An update replaces what was there; the journal keeps it.
    hints: { destructiveHint: false, idempotentHint: true },
    alwaysLoad: true,
    output: {
      file: TEXT,
      path: TEXT,
      scope: TEXT,
      action: { ...TEXT, enum: ["created", "updated", "unchanged", "waiting"] },
      notices: { ...TEXTS, description: "What could be better about it" },
      undo: UNDO,
    },
    async run(memdir, { scope, replace = false, body, ...given }, { by, renew, ...context }) {
      const waiting = await saveAsModel(memdir, { ...given, body }, by);
      if (waiting) return waiting;
      const source = { by, session: null, message: null };
      // Marks that only people set, which a body in the form of a memory may carry.
      const marks: string[] = [];
      const own = { pinned: undefined, supersedes: undefined, source, replace };
      const asModel = (request: SaveRequest) => {
        marks.push(...(["pinned", "supersedes"] as const).filter((mark) => request[mark] !== undefined));
        return memdir.save({ ...request, ...own });
      };
      const saved = await save.run({ ...memdir, save: asModel }, { ...given, text: body }, context);
      if (scope !== undefined) renew();
      const isCued = saved.action !== "created" || (given.when ?? []).length > 0;
      const notices = [...saved.notices, ...noteLeft(marks), ...(isCued ? [] : [NO_CUES_NOTICE])];
      return { ...saved, notices, scope: memdir.directories[0]?.scope };
    },
    say: ({ action, file, notices }) => [`${action} ${file}`, ...notices.map((notice) => `note: ${notice}`)].join("\n"),
  }),
  makeTool({
    name: "read",
    verb: show,
    fields: { name: required(filled(show.input.name)), scope: SCOPE },
    async run(memdir, { name }, context) {
      const { formatHeader, formatInjection } = await import("../recall/injection.ts");
      const shown = await show.run(memdir, { name }, context);
      const { path, file } = shown;
      const at = memdir.directories.findIndex((each) => join(each.path, file) === path);
      const { source } = parseMemory(file, (await memdir.text({ directory: at, file })).text);
      const store = memdir.directories[at] as Store;
      const { inRepository } = store;
      const header = formatHeader({ ...shown, source, inRepository, author: findAuthor(store, file) });
      const { content } = cutContent(neutralise(shown.body), { maxBytes: MAX_BYTES, maxLines: MAX_READ_LINES });
      return { text: formatInjection([{ header, content }]) };
    },
    say: (_, { text }) => text,
  }),
  makeTool({
    name: "list",
    verb: list,
    fields: { type: list.input.type, since: list.input.since, limit: number("", { min: 1 }), offset: number() },
    output: {
      memories: several({ ...ROW, problems: TEXTS }),
      total: COUNT,
      left: { ...COUNT, description: "How many come after these" },
    },
    async run(memdir, { limit = DEFAULT_LISTED, offset = 0, ...given }, context) {
      const { rows } = await list.run(memdir, given, context);
      const newest = rows.sort((a, b) => (a.modified < b.modified ? 1 : a.modified > b.modified ? -1 : 0));
      const memories = newest.slice(offset, offset + Math.min(limit, MAX_LISTED));
      const next = offset + memories.length;
      return { memories, total: rows.length, left: Math.max(0, rows.length - next), next };
    },
    say({ memories, total, left }, { next }) {
      if (memories.length === 0)
        return total === 0 ? "There are no memories here." : `There are no more: ${countMemories(total)} in all.`;
      const lines = memories.map(({ file, scope, type, name, description, ageDays }) => {
        const about = description === "" ? name : `${name}: ${description}`;
        return `- [${type}] ${file} (${scope}, ${ageInWords(ageDays)}) ${about}`;
      });
      return [...lines, ...(left > 0 ? [`${left} more: call again with offset ${next}`] : [])].join("\n");
    },
  }),
  makeTool({
    name: "forget",
    verb: forget,
    fields: { name: required(filled(forget.input.name)), scope: SCOPE, reason: forget.input.reason },
    hints: { destructiveHint: true, idempotentHint: false },
    output: { file: TEXT, action: TEXT, undo: UNDO },
    async run(memdir, { scope: _, ...given }, context) {
      const waiting = await forgetAsModel(memdir, given.name, given.reason, context.by);
      if (waiting) return waiting;
      const asModel: Memdir["forget"] = (name, options) => memdir.forget(name, { ...options, trust: "inferred" });
      return forget.run({ ...memdir, forget: asModel }, given, context);
    },
    say: ({ file, undo, action }, { notices }) =>
      action === "waiting"
        ? `not removed: ${notices[0]}`
        : `removed ${file}${undo === null ? "" : `; \`undo\` with id ${undo} brings it back`}`,
  }),
  makeTool({
    name: "undo",
    verb: undo,
    fields: { id: filled(undo.input.id), scope: SCOPE },
    hints: { destructiveHint: true, idempotentHint: false },
    output: { undone: TEXT, action: TEXT, files: TEXTS, undo: UNDO, notices: TEXTS },
    async run(memdir, { id }, context) {
      const entry = await findOwnChange(memdir, id);
      return undo.run(memdir, { id: entry }, context);
    },
    say: ({ action, undone, files, notices }) =>
      [`undid ${action} ${undone}: ${files.join(", ")}`, ...notices.map((notice) => `note: ${notice}`)].join("\n"),
  }),
  makeTool({
    name: "verify",
    verb: verify,
    // What is found is kept, so that recall can show it; nothing is stamped for a model that asks.
    fields: { name: filled(verify.input.name) },
    output: {
      checked: COUNT,
      problems: several({
        ...{ file: TEXT, line: { type: "integer" }, claim: TEXT, kind: TEXT, verdict: TEXT, evidence: TEXT },
        cause: { type: ["string", "null"], description: "Problems with the same cause are one thing to fix" },
      }),
      aged: several({ file: TEXT, ageDays: { type: "integer" } }),
    },
    async run(memdir, input, context) {
      const { checked, problems, memories } = await verify.run(memdir, input, context);
      const isChecked = new Set(memories.map(({ file, scope }) => `${scope} ${file}`));
      const aged = (await memdir.list()).filter(
        ({ age, file, scope }) => (age === "stale" || age === "old") && isChecked.has(`${scope} ${file}`),
      );
      return { checked, problems, aged };
    },
    say({ checked, problems, aged }) {
      const causes = groupByCause(problems);
      const shown = causes.slice(0, MAX_PROBLEMS_SHOWN);
      const oldest = aged.toSorted((a, b) => b.ageDays - a.ageDays).slice(0, MAX_AGED_SHOWN);
      const names = oldest.map(({ file, ageDays }) => `${file} (${ageInWords(ageDays)})`).join(", ");
      return [
        `${countMemories(checked)} checked, ${count(problems.length, "doubtful claim")}`,
        ...shown.map(
          ([{ file, line, claim, evidence }, ...more]) =>
            `- ${file}:${line} \`${claim}\`: ${evidence}${alsoNamed(more)}`,
        ),
        ...(causes.length > shown.length ? [`- and ${causes.slice(shown.length).flat().length} more`] : []),
        ...(aged.length > 0 ? [`Old enough to be doubted (${aged.length}): ${names}`] : []),
        "Only claims about the code and git were checked. Read the code before you act on a memory.",
      ].join("\n");
    },
  }),
];

// --- What a model changes of the team's memories: it becomes a proposal in the user's own inbox.

/** What a model saves for the team, as a proposal; null where it is not for the team. */
async function saveAsModel(memdir: Memdir, { body, ...request }: SaveWish, by: string) {
  const [team] = memdir.directories as [Store];
  if (team.scope !== "team") return null;
  const { type, name, description = "", when = [], reason } = request;
  const wish = { action: "save", file: null, type, name, description, body, reason, by } as const;
  const { done, says, ...applied } = await memdir.propose(team, { ...wish, when: [...when] });
  const file = applied.file ?? fileNameFor(type, name);
  const action = done === "inbox" ? ("waiting" as const) : ("unchanged" as const);
  return { file, path: join(team.path, file), scope: team.scope, action, notices: [says], undo: null };
}

type SaveWish = Pick<SaveRequest, "type" | "name" | "description" | "when" | "reason"> & { body: string };

/** What a model wants the team to forget, as a proposal; null where the memory is not the team's. */
async function forgetAsModel(memdir: Memdir, name: string, reason: string | undefined, by: string) {
  if (!memdir.directories.some(({ scope }) => scope === "team")) return null;
  const { directory, file } = await findNamed(memdir.directories, name);
  if (directory.scope !== "team") return null;
  const { says } = await memdir.propose(directory, { ...wishToForget(directory, file, by), reason });
  return { file, action: "waiting" as const, undo: null, notices: [says] };
}

/** What a person or another client changed is not a model's to undo. Without an id its last change that is not undone. */
async function findOwnChange(memdir: Memdir, id: string | undefined): Promise<string> {
  const { by } = memdir.directories[0] as Store;
  const entries = await memdir.history();
  const undone = new Set(entries.map(({ undoes }) => undoes));
  const own = entries.filter((entry) => entry.by === by);
  const found = id === undefined ? own.findLast((e) => !e.undoes && !undone.has(e.id)) : own.find((e) => e.id === id);
  if (found) return found.id;
  const isOther = entries.some((entry) => entry.id === id);
  throw new MemdirError(
    isOther ? "usage" : "not-found",
    id === undefined
      ? "there is nothing to undo: nothing was changed through these tools"
      : isOther
        ? `change ${id} was not made through these tools: ask the user to run \`memdir undo ${id}\``
        : `there is no change "${id.slice(0, 40)}": use the number that \`save\` or \`forget\` answered with`,
  );
}

/** A model reads so many at most; the rest is counted. */
const MAX_PROBLEMS_SHOWN = 50;
const MAX_NAMED = 20;
const MAX_AGED_SHOWN = 10;

/** What the same commit took from that section: whoever corrects one of them corrects all. */
function alsoNamed(more: readonly { claim: string }[]): string {
  if (more.length === 0) return "";
  const names = more.slice(0, MAX_NAMED).map(({ claim }) => `\`${claim}\``);
  return `; also ${names.join(", ")}${more.length > MAX_NAMED ? ` and ${more.length - MAX_NAMED} more` : ""}`;
}

// --- What a tool is: a verb of the table with the inputs that a model may give, and its result in two forms.

/** What a call brings besides its input. */
export interface ToolCall extends Pick<World, "env" | "now" | "log"> {
  cwd: string;
  open(scope?: string): Promise<Memdir>;
  /** After a save that may have made a scope's directory. */
  renew(): void;
  /** Who calls, for the source of what is saved. */
  by: string;
  signal: AbortSignal;
  /** Missing where nobody is told how far it is. */
  progress?: Context["progress"];
}

/** What of JSON Schema describes results. */
interface Shape {
  type: string | readonly string[];
  items?: Shape;
  properties?: Readonly<Record<string, Shape>>;
  description?: string;
  enum?: readonly string[];
  minimum?: number;
}

export type ModelTool = ReturnType<typeof makeTool>;

interface ToolParts<F extends Fields, V extends Fields, R extends object> {
  name: keyof typeof MCP_TOOL_WORDS;
  // biome-ignore lint/suspicious/noExplicitAny: the tool's own `run` knows the result
  verb: Verb<V, any>;
  /** What of the verb's input, and besides it, a model may give; `scope` chooses the store. */
  fields: F;
  /** What of the verb's input it may not choose. */
  fixed?: Input<V>;
  /** For a verb that writes; a tool without them only reads. */
  hints?: { destructiveHint?: boolean; idempotentHint: boolean };
  /** Loaded at once by Claude Code, which shows other tools only by name. */
  alwaysLoad?: true;
  /**
   * What of the result programs get. Missing where the result is a text already, and goes out as that alone: with structured output
   * beside it some hosts show their model only that and others only the text, and memories would have to be in both, twice as long.
   */
  output?: Readonly<Record<string, Shape>>;
  run(memdir: Memdir, input: Input<F> & Input<V>, context: Context & Pick<ToolCall, "by" | "renew">): Promise<R>;
  /** The same as text, for hosts and models that read only that. `shown` is made harmless; all of it is in `result`. */
  say(shown: R, result: R): string;
}

function makeTool<const F extends Fields, V extends Fields, R extends object>(parts: ToolParts<F, V, R>) {
  const { name, fields, fixed = {} as Input<V>, hints = { idempotentHint: true }, output } = parts;
  const { title, description, inputs } = MCP_TOOL_WORDS[name];
  const outputSchema = output && { type: "object", properties: output, required: Object.keys(output) };
  return {
    spec: {
      ...{ name: name as string, title, description, inputSchema: buildSchema(fields, inputs) },
      ...(outputSchema && { outputSchema }),
      annotations: { ...{ title, openWorldHint: false, readOnlyHint: !parts.hints }, ...hints },
      ...(parts.alwaysLoad && { _meta: { "anthropic/alwaysLoad": true } }),
    },
    /**
     * `text` is for the model, `structured` for programs; missing where the text is all there is. Throws a MemdirError in words for the
     * model; what else goes wrong is logged first.
     */
    async run({ open, by, renew, ...call }: ToolCall, given: Row): Promise<{ text: string; structured?: unknown }> {
      try {
        const input = readInput(fields, given);
        const memdir = await open("scope" in input ? String(input.scope) : undefined);
        const quiet = silent({ ...call, open: ({ scope }) => open(scope) });
        const context = { ...quiet, progress: call.progress ?? quiet.progress };
        const result = await parts.run(memdir, { ...input, ...fixed }, { ...context, by, renew });
        if (!outputSchema) return { text: parts.say(result, result) };
        const structured = shape(outputSchema, result) as R;
        return { text: parts.say(structured, result), structured };
      } catch (error) {
        throw explain(error, (problem) => call.log(`${name}: ${problem}`));
      }
    },
  };
}

/** What the schema names of a value, every text on one line and harmless to show. */
function shape({ properties, items }: Shape, value: unknown): unknown {
  if (Array.isArray(value) && items) return value.map((each) => shape(items, each));
  if (properties) {
    const entries = Object.entries(properties).map(([key, inner]) => [key, shape(inner, (value as Row)[key])]);
    return Object.fromEntries(entries);
  }
  return typeof value === "string" ? neutraliseLine(value) : value;
}

type Row = Readonly<Record<string, unknown>>;

/** Messages name commands; here there are tools. */
function explain(error: unknown, log: (problem: string) => void): Error {
  if (!(error instanceof MemdirError)) {
    log((error as Error)?.stack ?? String(error));
    return error instanceof Error ? error : new Error(String(error));
  }
  const { code, message, details } = error;
  const words =
    code === "secret" && Array.isArray(details)
      ? `not saved, it holds what looks like a secret: ${details.join(", ")}; leave the value out and say where it is kept`
      : message.replaceAll("`memdir list`", "`list`").replaceAll("--scope", "`scope`");
  return new MemdirError(code, words, { cause: error, details });
}

/** Runs calls so that each sees what was written before it, and nothing that is written after it: a model may send several at once. */
export function openOrder() {
  let write: Promise<unknown> = Promise.resolve();
  let reads = new Set<Promise<unknown>>();
  return <T>(isRead: boolean, run: () => Promise<T>): Promise<T> => {
    const result = (isRead ? write : Promise.all([write, ...reads])).then(run);
    const settled = result.then(
      () => {},
      () => {},
    );
    if (isRead) {
      const among = reads;
      among.add(settled);
      void settled.then(() => among.delete(settled));
    } else {
      write = settled;
      reads = new Set();
    }
    return result;
  };
}
