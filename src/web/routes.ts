/** Every route of the page: what it takes, checked by hand, and the answer that it gives. */

import { MemdirError } from "../errors.ts";
import type { Amendment } from "../learn/inbox.ts";
import { isMemoryType, MEMORY_TYPES, type MemoryType } from "../store/store.ts";
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
import { answerDream, answerDreamApply } from "./answer-dream.ts";
import { answerAccept, answerInbox, answerReject } from "./answer-inbox.ts";
import { answerMap, answerMerge, answerMergeProposal } from "./answer-map.ts";
import { answerList, answerSearch } from "./answer-memories.ts";
import { answerMemory } from "./answer-memory.ts";
import { answerOverview, answerRot } from "./answer-overview.ts";
import { answerRecall } from "./answer-recall.ts";
import { answerSession, answerSessions } from "./answer-sessions.ts";
import { answerStart } from "./answer-start.ts";
import { answerTeam } from "./answer-team.ts";
import { answerTimeline } from "./answer-timeline.ts";
import type { Ref } from "./api.ts";
import type { Desk } from "./desk.ts";
import { countOf, nameOf, objectOf, optionalText, queryOf, refOf, textOf, textsOf } from "./input.ts";

export { conflictOf } from "./answer-change.ts";

export interface Route {
  method: "GET" | "POST" | "PUT";
  path: string;
  /** Whether it changes memories. */
  writes: boolean;
  /** Throws `usage` for what it does not take. */
  answer(desk: Desk, query: URLSearchParams, body: unknown): Promise<unknown>;
}

/** A prompt as people paste it; more is not looked at anyway. */
const MAX_PROMPT_CHARS = 100_000;
const MAX_WORDS_CHARS = 1_000;
const MAX_EVENTS = 500;

export const ROUTES: readonly Route[] = [
  look("/api/start", answerStart),
  look("/api/overview", (desk, query) => answerOverview(desk, query.rot !== "false")),
  look("/api/rot", answerRot),
  look("/api/memories", answerList),
  look("/api/search", (desk, query) => answerSearch(desk, wordsOf(query), query.quick === "true")),
  look("/api/memory", (desk, query) => answerMemory(desk, refOf(query))),
  look("/api/context", (desk, query) => answerContext(desk, optionalText(query, "touch", MAX_WORDS_CHARS) || null)),
  look("/api/timeline", (desk, query) =>
    answerTimeline(desk, { before: timeOf(query, "before"), limit: countOf(query, "limit", 100, MAX_EVENTS) }),
  ),
  look("/api/map", answerMap),
  look("/api/merge", (desk, query) => answerMergeProposal(desk, sideOf(query, "keep"), sideOf(query, "other"))),
  look("/api/inbox", answerInbox),
  look("/api/dream", answerDream),
  look("/api/team", answerTeam),
  look("/api/sessions", (desk, query) => answerSessions(desk, wordsOf(query))),
  look("/api/session", (desk, query) => answerSession(desk, nameOf(query, "id"))),
  { ...change("POST", "/api/check", (desk, body) => answerCheck(desk, editOf(body))), writes: false },
  { ...change("POST", "/api/recall", recall), writes: false },
  change("PUT", "/api/memory", (desk, body) => answerSave(desk, editOf(body))),
  change("POST", "/api/new", (desk, body) => answerNew(desk, newOf(body))),
  change("POST", "/api/forget", (desk, body) => answerForget(desk, refOf(body), optionalText(body, "reason", 1_000))),
  change("POST", "/api/rename", (desk, body) => answerRename(desk, refOf(body), nameOf(body, "name"))),
  change("POST", "/api/undo", (desk, body) => answerUndo(desk, optionalText(body, "entry", 200))),
  change("POST", "/api/merge", (desk, body) =>
    answerMerge(desk, {
      keep: refOf(objectOf(body.keep)),
      other: refOf(objectOf(body.other)),
      text: textOf(body, "text"),
      left: optionalText(body, "left"),
      right: optionalText(body, "right"),
    }),
  ),
  change("POST", "/api/inbox/accept", (desk, body) => answerAccept(desk, nameOf(body, "id"), amendedOf(body))),
  change("POST", "/api/inbox/reject", (desk, body) => answerReject(desk, nameOf(body, "id"))),
  change("POST", "/api/dream/apply", (desk, body) => answerDreamApply(desk, nameOf(body, "plan"))),
];

type Taken = Record<string, unknown>;

function look(path: string, answer: (desk: Desk, query: Taken) => Promise<unknown>): Route {
  return { method: "GET", path, writes: false, answer: async (desk, query) => answer(desk, queryOf(query)) };
}

function change(method: "POST" | "PUT", path: string, answer: (desk: Desk, body: Taken) => Promise<unknown>): Route {
  return { method, path, writes: true, answer: async (desk, _, body) => answer(desk, objectOf(body)) };
}

function recall(desk: Desk, body: Taken): Promise<unknown> {
  const { door = "hook" } = body;
  if (door !== "hook" && door !== "library") throw new MemdirError("usage", '"door" must be hook or library');
  return answerRecall(desk, textOf(body, "prompt", MAX_PROMPT_CHARS), door);
}

function wordsOf(query: Taken): string {
  return optionalText(query, "q", MAX_WORDS_CHARS) ?? "";
}

function timeOf(query: Taken, key: string): string | null {
  const text = optionalText(query, key, 100) ?? "";
  if (text === "") return null;
  if (Number.isNaN(Date.parse(text))) throw new MemdirError("usage", `"${key}" must be a time`);
  return text;
}

/** `keepDirectory` and `keepFile`, and so on. */
function sideOf(query: Taken, side: "keep" | "other"): Ref {
  return refOf({ directory: query[`${side}Directory`], file: query[`${side}File`] });
}

function editOf(body: Taken): Edit {
  return { ...refOf(body), base: textOf(body, "base"), text: textOf(body, "text") };
}

function typeOf(body: Taken): MemoryType {
  const type = textOf(body, "type", 100);
  if (isMemoryType(type)) return type;
  throw new MemdirError("usage", `"type" must be one of ${MEMORY_TYPES.join(", ")}`);
}

function newOf(body: Taken) {
  return {
    type: typeOf(body),
    name: nameOf(body, "name"),
    description: optionalText(body, "description", 10_000) ?? "",
    body: optionalText(body, "body") ?? "",
    when: textsOf(body, "cues") ?? textsOf(body, "when") ?? [],
  };
}

/** Only what the person may change, and only what they sent. */
function amendedOf(body: Taken): Amendment | null {
  if (body.amended === undefined || body.amended === null) return null;
  const sent = objectOf(body.amended);
  const texts = (["description", "body"] as const).flatMap((key) => {
    const text = optionalText(sent, key);
    return text === undefined ? [] : [[key, text] as const];
  });
  const when = textsOf(sent, "cues") ?? textsOf(sent, "when");
  return {
    ...Object.fromEntries(texts),
    ...(sent.name === undefined ? {} : { name: nameOf(sent, "name") }),
    ...(sent.type === undefined ? {} : { type: typeOf(sent) }),
    ...(when === undefined ? {} : { when }),
  };
}
