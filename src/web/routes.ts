/** Every route of the page: its validated input and its answer. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Amendment } from "../learn/inbox.ts";
import type { Memdir } from "../memdir.ts";
import { isMemoryType, MEMORY_TYPES, type MemoryType } from "../store/store.ts";
import type { Page } from "./answer.ts";
import {
  answerCheck,
  answerForget,
  answerNew,
  answerRename,
  answerSave,
  answerUndo,
  type Edit,
} from "./answer-change.ts";
import { answerContext } from "./answer-context.ts";
import { answerAccept, answerDream, answerDreamApply, answerInbox, answerReject } from "./answer-learn.ts";
import { answerMap, answerMerge, answerMergeProposal } from "./answer-map.ts";
import { answerList, answerSearch } from "./answer-memories.ts";
import { answerMemory } from "./answer-memory.ts";
import { answerOverview, answerRot } from "./answer-overview.ts";
import { answerRecall } from "./answer-recall.ts";
import { answerSession, answerSessions } from "./answer-sessions.ts";
import { answerTeam } from "./answer-team.ts";
import { answerTimeline } from "./answer-timeline.ts";
import type { Ref, Start } from "./api.ts";

export interface Route {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** Whether it changes memories. */
  writes: boolean;
  /** `sent` is the query of a GET or DELETE, else the body. Throws `usage` for invalid input. */
  answer(page: Page, sent: Sent): Promise<unknown>;
}

export type Sent = Readonly<Record<string, unknown>>;

/** A memory is a page; a file of megabytes is edited elsewhere. */
const MAX_TEXT = 4 << 20;
const MAX_NAME = 1_000;
/** A prompt as people paste it; recall reads no more of it anyway. */
const MAX_PROMPT_CHARS = 100_000;
const MAX_EVENTS = 500;

export const ROUTES: readonly Route[] = [
  get("/api/start", answerStart),
  get("/api/overview", (page, query) => answerOverview(page, query.rot !== "false")),
  get("/api/rot", answerRot),
  get("/api/memories", answerList),
  get("/api/search", (page, query) => answerSearch(page, wordsOf(query), query.quick === "true")),
  get("/api/memory", (page, query) => answerMemory(page, refOf(query))),
  get("/api/context", ({ memdir }, query) => answerContext(memdir, optionalText(query, "touch", MAX_NAME) || null)),
  get("/api/timeline", (page, query) => answerTimeline(page, timeOf(query, "before"), limitOf(query, 100))),
  get("/api/map", ({ memdir }) => answerMap(memdir)),
  get("/api/merge", ({ memdir }, query) => answerMergeProposal(memdir, sideOf(query, "keep"), sideOf(query, "other"))),
  get("/api/inbox", ({ memdir }) => answerInbox(memdir)),
  get("/api/dream", answerDream),
  get("/api/team", answerTeam),
  get("/api/sessions", ({ memdir }, query) => answerSessions(memdir, wordsOf(query))),
  get("/api/session", ({ memdir }, query) => answerSession(memdir, nameOf(query, "id"))),
  { ...post("/api/check", (memdir, body) => answerCheck(memdir, editOf(body))), writes: false },
  { ...post("/api/recall", recall), writes: false },
  { ...post("/api/memory", (memdir, body) => answerSave(memdir, editOf(body))), method: "PUT" },
  post("/api/new", (memdir, body) => answerNew(memdir, newOf(body))),
  post("/api/forget", (memdir, body) => answerForget(memdir, refOf(body), optionalText(body, "reason", MAX_NAME))),
  post("/api/rename", (memdir, body) => answerRename(memdir, refOf(body), nameOf(body, "name"))),
  post("/api/undo", (memdir, body) => answerUndo(memdir, optionalText(body, "entry", 200))),
  post("/api/merge", (memdir, body) =>
    answerMerge(memdir, {
      keep: refOf(objectOf(body.keep)),
      other: refOf(objectOf(body.other)),
      text: textOf(body, "text"),
      left: optionalText(body, "left"),
      right: optionalText(body, "right"),
    }),
  ),
  post("/api/inbox/accept", (memdir, body) => answerAccept(memdir, nameOf(body, "id"), amendedOf(body))),
  post("/api/inbox/reject", (memdir, body) => answerReject(memdir, nameOf(body, "id"))),
  post("/api/dream/apply", (_, body, page) => answerDreamApply(page, nameOf(body, "plan"))),
];

function get(path: string, answer: (page: Page, query: Sent) => Promise<unknown>): Route {
  return { method: "GET", path, writes: false, answer };
}

function post(path: string, answer: (memdir: Memdir, body: Sent, page: Page) => Promise<unknown>): Route {
  return { method: "POST", path, writes: true, answer: async (page, body) => answer(page.memdir, body, page) };
}

async function answerStart({ memdir, env, readOnly, version }: Page): Promise<Start> {
  const { project } = memdir.location;
  return {
    version,
    project: basename(project.worktreeRoot ?? project.cwd),
    readOnly,
    directories: memdir.directories.map(({ scope, path, readOnly }) => ({ scope, path, readOnly })),
    warnings: [...memdir.warnings],
    hasModel: (env.MEMDIR_MODEL ?? "").trim() !== "",
  };
}

async function recall(memdir: Memdir, body: Sent): Promise<unknown> {
  const { adapter = "hook" } = body;
  if (adapter !== "hook" && adapter !== "library") throw new MemdirError("usage", '"adapter" must be hook or library');
  return answerRecall(memdir, textOf(body, "prompt", MAX_PROMPT_CHARS), adapter);
}

function wordsOf(query: Sent): string {
  return optionalText(query, "q", MAX_NAME) ?? "";
}

function timeOf(query: Sent, key: string): string | null {
  const text = optionalText(query, key, 100) ?? "";
  if (text === "") return null;
  if (Number.isNaN(Date.parse(text))) throw new MemdirError("usage", `"${key}" must be a time`);
  return text;
}

function limitOf({ limit = "" }: Sent, otherwise: number): number {
  if (limit === "") return otherwise;
  if (typeof limit !== "string" || !/^\d{1,6}$/.test(limit))
    throw new MemdirError("usage", '"limit" must be a whole number');
  return Math.min(MAX_EVENTS, Number(limit));
}

/** `keepDirectory` and `keepFile`, and so on. */
function sideOf(query: Sent, side: "keep" | "other"): Ref {
  return refOf({ directory: query[`${side}Directory`], file: query[`${side}File`] });
}

function editOf(body: Sent): Edit {
  return { ...refOf(body), base: textOf(body, "base"), text: textOf(body, "text") };
}

function typeOf(body: Sent): MemoryType {
  const type = textOf(body, "type", 100);
  if (isMemoryType(type)) return type;
  throw new MemdirError("usage", `"type" must be one of ${MEMORY_TYPES.join(", ")}`);
}

function newOf(body: Sent) {
  return {
    type: typeOf(body),
    name: nameOf(body, "name"),
    description: optionalText(body, "description", 10_000) ?? "",
    body: optionalText(body, "body") ?? "",
    when: textsOf(body, "cues") ?? textsOf(body, "when") ?? [],
  };
}

/** Only what the person may change, and only what they sent. */
function amendedOf(body: Sent): Amendment | null {
  if (body.amended === undefined || body.amended === null) return null;
  const sent = objectOf(body.amended);
  const description = optionalText(sent, "description");
  const text = optionalText(sent, "body");
  const when = textsOf(sent, "cues") ?? textsOf(sent, "when");
  return {
    ...(description !== undefined && { description }),
    ...(text !== undefined && { body: text }),
    ...(sent.name !== undefined && { name: nameOf(sent, "name") }),
    ...(sent.type !== undefined && { type: typeOf(sent) }),
    ...(when !== undefined && { when }),
  };
}

function objectOf(value: unknown): Sent {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Sent;
  throw new MemdirError("usage", "the request must be a JSON object");
}

function textOf(from: Sent, key: string, maxChars = MAX_TEXT): string {
  const value = from[key];
  if (typeof value !== "string") throw new MemdirError("usage", `"${key}" must be a string`);
  if (value.length > maxChars) throw new MemdirError("usage", `"${key}" must not exceed ${maxChars} characters`);
  // A lone surrogate has no bytes: it would be written as something else.
  if (!value.isWellFormed()) throw new MemdirError("usage", `"${key}" contains half a Unicode character; remove it`);
  return value;
}

export function nameOf(from: Sent, key: string): string {
  const name = textOf(from, key, MAX_NAME);
  if (name.trim() === "") throw new MemdirError("usage", `"${key}" must not be empty`);
  return name;
}

function optionalText(from: Sent, key: string, maxChars?: number): string | undefined {
  return from[key] === undefined || from[key] === null ? undefined : textOf(from, key, maxChars);
}

function textsOf(from: Sent, key: string): string[] | undefined {
  const value = from[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length > MAX_NAME)
    throw new MemdirError("usage", `"${key}" must be a list of strings`);
  return value.map((each: unknown) => textOf({ [key]: each }, key, MAX_NAME));
}

/** `directory` as a number, or its digits. */
function refOf(from: Sent): Ref {
  const { directory } = from;
  const number = typeof directory === "string" && /^\d{1,4}$/.test(directory) ? Number(directory) : directory;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) {
    throw new MemdirError("usage", '"directory" must be the number of a directory');
  }
  return { directory: number, file: nameOf(from, "file") };
}
