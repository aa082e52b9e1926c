/** Every route of the page: the fields that it takes and the answer that it gives. Verbs get theirs from the table. */

import { basename } from "node:path";
import {
  checked,
  choice,
  type Fields,
  filled,
  flag,
  group,
  type Input,
  list,
  number,
  readInput,
  required,
  text,
} from "../input.ts";
import { fieldsOf, type Verb, writes } from "../verb.ts";
import { TYPE } from "../verbs/common.ts";
import { VERBS } from "../verbs/table.ts";
import { contextOf, type Page } from "./answer.ts";
import { answerCheck, answerNew, answerSave } from "./answer-change.ts";
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
import type { Start } from "./api.ts";

export interface Route {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** Whether it changes memories. */
  writes: boolean | ((sent: Sent) => boolean);
  /** `sent` is the query of a GET or DELETE, else the body. Throws `usage` for invalid input. */
  answer(page: Page, sent: Sent, signal: AbortSignal): Promise<unknown>;
}

export type Sent = Readonly<Record<string, unknown>>;

const DEFAULT_EVENTS = 100;
const MAX_EVENTS = 500;

const TEXT = required(text());
const NAME = required(filled(text()));
const WORDS = { q: text() };
const REF = { directory: required(number()), file: NAME };
const EDIT = { ...REF, base: TEXT, text: TEXT };
const SIDES = { keepDirectory: REF.directory, keepFile: NAME, otherDirectory: REF.directory, otherFile: NAME };
const TIME = checked(text(), (given) => !Number.isNaN(Date.parse(given)), "must be a time");
const WRITTEN = { name: filled(text()), type: TYPE, description: text(), body: text(), cues: list() };

export const ROUTES: readonly Route[] = [
  get("/api/start", {}, answerStart),
  get("/api/overview", { rot: flag() }, (page, { rot }) => answerOverview(page, rot)),
  get("/api/rot", {}, answerRot),
  get("/api/memories", {}, answerList),
  get("/api/search", { ...WORDS, quick: flag() }, (page, { q = "", quick }) => answerSearch(page, q, quick)),
  get("/api/memory", REF, answerMemory),
  get("/api/context", { touch: text() }, ({ memdir }, { touch }) => answerContext(memdir, touch || null)),
  get("/api/timeline", { before: TIME, limit: number() }, (page, { before = null, limit = DEFAULT_EVENTS }) =>
    answerTimeline(page, before, Math.min(limit, MAX_EVENTS)),
  ),
  get("/api/map", {}, ({ memdir }) => answerMap(memdir)),
  get("/api/merge", SIDES, ({ memdir }, { keepDirectory, keepFile, otherDirectory, otherFile }) =>
    answerMergeProposal(
      memdir,
      { directory: keepDirectory, file: keepFile },
      { directory: otherDirectory, file: otherFile },
    ),
  ),
  get("/api/inbox", {}, ({ memdir }) => answerInbox(memdir)),
  get("/api/dream", {}, answerDream),
  get("/api/team", {}, answerTeam),
  get("/api/sessions", WORDS, (page, { q = "" }, signal) => answerSessions(page, q, signal)),
  get("/api/session", { id: NAME }, ({ memdir }, { id }) => answerSession(memdir, id)),
  { ...post("/api/check", EDIT, ({ memdir }, edit) => answerCheck(memdir, edit)), writes: false },
  {
    ...post("/api/inspect", { prompt: TEXT, adapter: choice(["hook", "library"]) }, ({ memdir }, { prompt, adapter }) =>
      answerRecall(memdir, prompt, adapter ?? "hook"),
    ),
    writes: false,
  },
  { ...post("/api/memory", EDIT, ({ memdir }, edit) => answerSave(memdir, edit)), method: "PUT" },
  post("/api/new", { ...WRITTEN, name: NAME, type: required(TYPE) }, ({ memdir }, { cues = [], body = "", ...given }) =>
    answerNew(memdir, { ...given, description: given.description ?? "", body, when: cues }),
  ),
  post(
    "/api/merge",
    { keep: required(group(REF)), other: required(group(REF)), text: TEXT, left: text(), right: text() },
    ({ memdir }, merge) => answerMerge(memdir, merge),
  ),
  post("/api/inbox/accept", { id: NAME, amended: group(WRITTEN) }, ({ memdir }, { id, amended }) =>
    answerAccept(memdir, id, amended),
  ),
  post("/api/inbox/reject", { id: NAME }, ({ memdir }, { id }) => answerReject(memdir, id)),
  post("/api/dream/apply", { plan: NAME }, (page, { plan }) => answerDreamApply(page, plan)),
];

type Answer<F extends Fields> = (page: Page, input: Input<F>, signal: AbortSignal) => Promise<unknown>;

function get<const F extends Fields>(path: string, fields: F, answer: Answer<F>): Route {
  return { ...post(path, fields, answer), method: "GET", writes: false };
}

export function post<const F extends Fields>(path: string, fields: F, answer: Answer<F>): Route {
  return {
    ...{ method: "POST", path, writes: true },
    answer: async (page, sent, signal) => answer(page, readInput(fields, sent), signal),
  };
}

/** `POST /api/<name>` for a verb that is for the page; null for any other. A verb is loaded when it is first asked for. */
export async function findVerbRoute(name: string): Promise<Route | null> {
  const verb = await VERBS.find((row) => row.name === name && row.on.includes("web"))?.load();
  if (!verb) return null;
  return {
    method: "POST",
    path: `/api/${name}`,
    writes:
      typeof verb.writes === "function" ? (sent) => writes(verb, readVerbInput(verb, sent)) : verb.writes === true,
    async answer(page, sent, signal) {
      const result = await verb.run(page.memdir, readVerbInput(verb, sent), contextOf(page, signal));
      return verb.json ? verb.json(result) : result;
    },
  };
}

/** The page knows a memory by its place, which a Memdir takes instead of a name. */
function readVerbInput(verb: Verb, sent: Sent): Input<Fields> {
  const { name, ...others } = fieldsOf(verb, "web");
  if (verb.args[0] !== "name" || sent.file === undefined) return readInput({ ...others, ...(name && { name }) }, sent);
  const { directory, file, ...input } = readInput({ ...others, ...REF }, sent);
  return { ...input, name: { directory, file } };
}

async function answerStart({ memdir, readOnly, version }: Page): Promise<Start> {
  const { project } = memdir.location;
  return {
    version,
    project: basename(project.worktreeRoot ?? project.cwd),
    readOnly,
    directories: memdir.directories.map(({ scope, path, readOnly }) => ({ scope, path, readOnly })),
    warnings: [...memdir.warnings],
    hasModel: memdir.config.learn.model !== null,
  };
}
