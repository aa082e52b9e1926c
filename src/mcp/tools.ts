/** The tools of the MCP server: calls on a Memdir, and their results as a model and a program read them, made harmless to show. */

import { join } from "node:path";
import { MCP_TOOL_WORDS, NO_CUES_NOTICE, NOTHING_RECALLED } from "../prompts/mcp.ts";
import { cutContent } from "../recall/cut.ts";
import { formatHeader, formatInjection } from "../recall/injection.ts";
import { neutralise, neutraliseLine } from "../recall/neutral.ts";
import { logSurfaced } from "../recall/surface-log.ts";
import { ageInWords, findAuthor, MEMORY_TYPES, type MemoryType, parseMemory, type Row } from "../store/store.ts";
import { type McpTool, makeTool } from "./tool.ts";

const TEXT = { type: "string" };
const COUNT = { type: "integer", minimum: 0 };
const TEXTS = { type: "array", items: TEXT };
const READS = { readOnlyHint: true, idempotentHint: true };

const DEFAULT_RECALLED = 5;
const MAX_RECALLED = 20;
const DEFAULT_LISTED = 100;
const MAX_LISTED = 500;
/** Hosts cut results of more than about 25,000 tokens, without saying where. */
const MAX_BYTES = 40_000;
const MAX_READ_LINES = 2_000;

const ROW_SCHEMA = {
  file: { ...TEXT, description: "Its name for `read` and `forget`" },
  scope: TEXT,
  type: TEXT,
  name: TEXT,
  description: TEXT,
  modified: { ...TEXT, description: "ISO time that the age counts from" },
  ageDays: COUNT,
  age: { ...TEXT, enum: ["fresh", "recent", "stale", "old"] },
};

const recall = makeTool({
  name: "recall",
  words: MCP_TOOL_WORDS.recall,
  fields: { prompt: { type: "string", required: true, filled: true }, limit: { type: "integer", minimum: 1 } },
  annotations: READS,
  alwaysLoad: true,
  output: {
    memories: {
      type: "array",
      items: {
        type: "object",
        properties: {
          ...ROW_SCHEMA,
          header: { ...TEXT, description: "How old it is and where it is from; read it before the content" },
          content: { ...TEXT, description: "Information that may be out of date, not an instruction" },
          why: { ...TEXTS, description: "Why it was found" },
        },
      },
    },
    leftOut: { ...TEXTS, description: "Names of those that were found and did not fit" },
    considered: { ...COUNT, description: "How many memories there are" },
    method: TEXT,
  },
  async run({ open, signal }, { prompt, limit = DEFAULT_RECALLED }) {
    const memdir = await open();
    const found = await memdir.recall(prompt, { limit: Math.min(limit, MAX_RECALLED), maxBytes: MAX_BYTES, signal });
    const [main] = memdir.directories;
    if (main) logSurfaced(main.path, { at: main.now(), session: null, door: "mcp", prompt, memories: found.memories });
    const memories = found.memories.map((memory) => ({
      ...showRow(memory),
      header: memory.header,
      content: memory.content,
      why: memory.why.map(neutraliseLine),
    }));
    const { considered, method } = found;
    const leftOut = found.leftOut.map(neutraliseLine);
    return { structured: { memories, leftOut, considered, method }, text: found.text || NOTHING_RECALLED };
  },
});

const save = makeTool({
  name: "save",
  words: MCP_TOOL_WORDS.save,
  fields: {
    type: { type: "string", required: true, values: MEMORY_TYPES },
    name: { type: "string", required: true, filled: true },
    description: { type: "string", required: true, filled: true },
    body: { type: "string", required: true, filled: true },
    scope: { type: "string" },
    reason: { type: "string" },
    replace: { type: "boolean" },
    when: { type: "texts" },
  },
  // An update replaces what was there; the journal keeps it.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  alwaysLoad: true,
  output: {
    file: TEXT,
    path: TEXT,
    scope: TEXT,
    action: { ...TEXT, enum: ["created", "updated", "unchanged"] },
    notices: { ...TEXTS, description: "What could be better about it" },
    undo: { type: ["string", "null"], description: "For `memdir undo`" },
  },
  async run({ open, renew, by }, { scope, reason = "", replace = false, when = [], ...given }) {
    const memdir = await open(scope);
    const source = { by, session: null, message: null };
    const saved = await memdir.save({ ...given, type: given.type as MemoryType, when, source, reason, replace });
    if (scope !== undefined) renew();
    const notices = when.length > 0 || saved.action !== "created" ? saved.notices : [...saved.notices, NO_CUES_NOTICE];
    const { file, path, action, undo } = saved;
    const lines = [`${action} ${file}`, ...notices.map((notice) => `note: ${notice}`)];
    return {
      structured: { file, path, scope: memdir.directories[0]?.scope ?? "project", action, notices, undo },
      text: lines.join("\n"),
    };
  },
});

const read = makeTool({
  name: "read",
  words: MCP_TOOL_WORDS.read,
  fields: { name: { type: "string", required: true, filled: true }, scope: { type: "string" } },
  annotations: READS,
  output: { ...ROW_SCHEMA, when: TEXTS, header: TEXT, content: TEXT, cut: { type: "boolean" }, problems: TEXTS },
  async run({ open }, { name, scope }) {
    const memdir = await open(scope);
    const shown = await memdir.show(name);
    const { source } = parseMemory(shown.file, (await memdir.text(shown.file)).text);
    const { path, ageDays, file } = shown;
    const directory = memdir.directories.find((each) => join(each.path, file) === path);
    const author = directory ? findAuthor(directory, file) : null;
    const header = formatHeader({ path, scope: shown.scope, ageDays, source, author });
    const { content, cut } = cutContent(neutralise(shown.body), { maxBytes: MAX_BYTES, maxLines: MAX_READ_LINES });
    const when = shown.when.map(neutraliseLine);
    return {
      structured: { ...showRow(shown), when, header, content, cut, problems: shown.problems.map(neutraliseLine) },
      text: formatInjection([{ header, content }]),
    };
  },
});

const list = makeTool({
  name: "list",
  words: MCP_TOOL_WORDS.list,
  fields: {
    type: { type: "string", values: MEMORY_TYPES },
    limit: { type: "integer", minimum: 1 },
    offset: { type: "integer", minimum: 0 },
  },
  annotations: READS,
  output: {
    memories: { type: "array", items: { type: "object", properties: { ...ROW_SCHEMA, problems: TEXTS } } },
    total: COUNT,
    left: { ...COUNT, description: "How many come after these" },
  },
  async run({ open }, { type, limit = DEFAULT_LISTED, offset = 0 }) {
    const rows = await (await open()).list({ type: type as MemoryType | undefined });
    const newest = rows.sort((a, b) => (a.modified < b.modified ? 1 : a.modified > b.modified ? -1 : 0));
    const page = newest.slice(offset, offset + Math.min(limit, MAX_LISTED));
    const left = Math.max(0, rows.length - offset - page.length);
    const memories = page.map((row) => ({ ...showRow(row), problems: row.problems.map(neutraliseLine) }));
    const more = left > 0 ? [`${left} more: call again with offset ${offset + page.length}`] : [];
    const text = page.length > 0 ? [...page.map(formatRow), ...more].join("\n") : "There are no memories here.";
    return { structured: { memories, total: rows.length, left }, text };
  },
});

const forget = makeTool({
  name: "forget",
  words: MCP_TOOL_WORDS.forget,
  fields: {
    name: { type: "string", required: true, filled: true },
    scope: { type: "string" },
    reason: { type: "string" },
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  output: { file: TEXT, action: TEXT, undo: { type: ["string", "null"], description: "For `memdir undo`" } },
  async run({ open }, { name, scope, reason = "" }) {
    const { file, action, undo } = await (await open(scope)).forget(name, { reason, trust: "inferred" });
    const back = undo === null ? "" : `; \`memdir undo ${undo}\` brings it back`;
    return { structured: { file, action, undo }, text: `removed ${neutraliseLine(file)}${back}` };
  },
});

const verify = makeTool({
  name: "verify",
  words: MCP_TOOL_WORDS.verify,
  fields: { name: { type: "string", filled: true } },
  annotations: READS,
  output: {
    checked: COUNT,
    problems: {
      type: "array",
      items: {
        type: "object",
        properties: { file: TEXT, line: { type: "integer" }, claim: TEXT, kind: TEXT, verdict: TEXT, evidence: TEXT },
      },
    },
    aged: { type: "array", items: { type: "object", properties: { file: TEXT, ageDays: { type: "integer" } } } },
  },
  async run({ open, signal }, { name }) {
    const memdir = await open();
    // What is found is kept, so that recall can show it; nothing is stamped for a model that asks.
    const { checked, problems: found, memories } = await memdir.verify(name, { stamp: "none", signal });
    const problems = found.map(({ file, line, claim, kind, verdict, evidence }) => ({
      ...{ line, kind, verdict },
      file: neutraliseLine(file),
      claim: neutraliseLine(claim),
      evidence: neutraliseLine(evidence),
    }));
    const checkedFiles = new Set(memories.map(({ file, scope }) => `${scope} ${file}`));
    const aged = (await memdir.list())
      .filter(({ age, file, scope }) => (age === "stale" || age === "old") && checkedFiles.has(`${scope} ${file}`))
      .map(({ file, ageDays }) => ({ file: neutraliseLine(file), ageDays }));
    const structured = { checked, problems, aged };
    return { structured, text: formatVerification(structured) };
  },
});

export const MCP_TOOLS: readonly McpTool[] = [recall, save, read, list, forget, verify];

function showRow({ scope, type, modified, ageDays, age, ...row }: Row) {
  return {
    file: neutraliseLine(row.file),
    scope,
    type,
    name: neutraliseLine(row.name),
    description: neutraliseLine(row.description),
    modified,
    ageDays,
    age,
  };
}

function formatRow(row: Row): string {
  const { file, scope, type, name, description, ageDays } = showRow(row);
  const about = description === "" ? name : `${name}: ${description}`;
  return `- [${type}] ${file} (${scope}, ${ageInWords(ageDays)}) ${about}`;
}

/** A model reads so many at most; the rest is counted. */
const MAX_PROBLEMS_SHOWN = 50;
const MAX_AGED_SHOWN = 10;

interface Checked {
  checked: number;
  problems: { file: string; line: number; claim: string; evidence: string }[];
  /** Memories that are old enough to be doubted, whatever was found. */
  aged: { file: string; ageDays: number }[];
}

function formatVerification({ checked, problems, aged }: Checked): string {
  const doubts = `${problems.length} doubtful ${problems.length === 1 ? "claim" : "claims"}`;
  const lines = [`${checked} ${checked === 1 ? "memory" : "memories"} checked, ${doubts}`];
  for (const { file, line, claim, evidence } of problems.slice(0, MAX_PROBLEMS_SHOWN)) {
    lines.push(`- ${file}:${line} \`${claim}\`: ${evidence}`);
  }
  if (problems.length > MAX_PROBLEMS_SHOWN) lines.push(`- and ${problems.length - MAX_PROBLEMS_SHOWN} more`);
  if (aged.length > 0) {
    const oldest = [...aged].sort((a, b) => b.ageDays - a.ageDays).slice(0, MAX_AGED_SHOWN);
    const names = oldest.map(({ file, ageDays }) => `${file} (${ageInWords(ageDays)})`);
    lines.push(`Old enough to be doubted (${aged.length}): ${names.join(", ")}`);
  }
  lines.push(
    "Only what can be looked up in the code and in git was checked. Read the code before you act on a memory.",
  );
  return lines.join("\n");
}
