/** Routes of memories: list, fetch, write, remove, versions. */

import { sha256 } from "../../text/hash.ts";
import { findEntryProblem } from "../entry-path.ts";
import type { FetchAnswer, ListAnswer, StaleAnswer, VersionsAnswer, WriteAnswer } from "../protocol.ts";
import type { RemoteOutcome } from "../remote.ts";
import { type Answer, notFound, refuse } from "./answer.ts";
import { readObject, readText } from "./body.ts";
import { examineMemory } from "./incoming.ts";
import { holdsTag, readPrecondition } from "./precondition.ts";
import type { Asked, Route, ServerWorld } from "./route.ts";

const REPOSITORY = "/v1/teams/:team/repositories/:repository";
const MATCH = { text: 'The revision that the change is based on: `"REVISION"`, one strong tag.' };
const STALE = { text: "Somebody was faster; nothing was written.", schema: "StaleAnswer" };

export const MEMORY_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: `${REPOSITORY}/memories`,
    access: { to: "repository", role: "reader" },
    action: "list",
    description: {
      summary: "Every memory of the repository without its text, tombstones too",
      headers: { "If-None-Match": { text: "The ETag of an earlier answer." } },
      answers: {
        200: { text: "The list, with an ETag.", schema: "ListAnswer" },
        304: { text: "Nothing has changed since." },
      },
    },
    answer: listMemories,
  },
  {
    method: "POST",
    path: `${REPOSITORY}/fetch`,
    access: { to: "repository", role: "reader" },
    action: "fetch",
    description: {
      summary: "The texts of these memories; what is gone or redacted is left out",
      request: "FetchRequest",
      answers: { 200: { text: "The texts.", schema: "FetchAnswer" } },
    },
    answer: fetchMemories,
  },
  {
    method: "PUT",
    path: `${REPOSITORY}/memories/:path{.+}`,
    access: { to: "repository", role: "writer" },
    action: "write",
    description: {
      summary: "Writes a memory that is new or based on a known revision",
      headers: { "If-Match": MATCH, "If-None-Match": { text: "`*` for a memory that must not be there yet." } },
      request: { markdown: true },
      answers: {
        200: { text: "Written, or there already.", schema: "WriteAnswer" },
        412: STALE,
        413: { text: "The memory is too large.", schema: "ProblemAnswer" },
        422: {
          text: "It holds a secret, is private, cannot be read, or the repository is full.",
          schema: "ProblemAnswer",
        },
        428: { text: "There is no precondition.", schema: "ProblemAnswer" },
      },
    },
    answer: putMemory,
  },
  {
    method: "DELETE",
    path: `${REPOSITORY}/memories/:path{.+}`,
    access: { to: "repository", role: "writer" },
    action: "remove",
    description: {
      summary: "Leaves a tombstone in the place of a memory; its versions stay",
      headers: { "If-Match": { required: true, ...MATCH } },
      answers: {
        200: { text: "Removed, or gone already.", schema: "WriteAnswer" },
        412: STALE,
        428: { text: "There is no precondition.", schema: "ProblemAnswer" },
      },
    },
    answer: removeMemory,
  },
  {
    method: "GET",
    path: `${REPOSITORY}/versions/:path{.+}`,
    access: { to: "repository", role: "reader" },
    action: "versions",
    description: {
      summary: "Every version of a memory, oldest first",
      answers: { 200: { text: "The versions.", schema: "VersionsAnswer" } },
    },
    answer: listVersions,
  },
];

async function listMemories({ data }: ServerWorld, asked: Asked): Promise<Answer> {
  const { caller, repository, headers } = asked;
  const tagOf = (state: string) => `"${sha256(`${caller.team}/${repository}/${state}`).slice(0, 32)}"`;
  const known = headers.get("if-none-match");
  if (known !== null && asked.state !== null) {
    const etag = tagOf(asked.state);
    // Nothing is read, so there is nothing for the audit log: clients ask every few seconds.
    if (holdsTag(known, etag)) return { status: 304, headers: { etag } };
  }
  const { id, state, entries } = await data.listMemories(caller, repository);
  await data.audit(caller, [{ action: "list", repository, path: null, revision: null, outcome: "ok" }]);
  const body: ListAnswer = { id, entries };
  return { status: 200, body, headers: { etag: tagOf(state) } };
}

async function fetchMemories({ data, limits }: ServerWorld, asked: Asked): Promise<Answer> {
  const { caller, repository } = asked;
  const { fetchPaths, requestBytes } = limits.memory;
  const read = await readObject(asked, requestBytes);
  if (read.refused) return read.refused;
  const { paths } = read.value;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    return refuse(400, "form", 'the body must be {"paths": ["a.md", …]}');
  }
  if (paths.length > fetchPaths) {
    return refuse(
      400,
      "form",
      `at most ${fetchPaths} memories are fetched at once: ask for the rest in further requests`,
    );
  }
  const wanted = [...new Set(paths)];
  if (wanted.some((path) => findEntryProblem(path))) {
    return refuse(422, "path", "one of the paths is none that a shared memory can have: ask only for what was listed");
  }
  const memories = wanted.length === 0 ? [] : await data.fetchMemories(caller, repository, wanted);
  const rows = memories.map(({ path, revision }) => ({ action: "fetch", repository, path, revision, outcome: "ok" }));
  await data.audit(caller, rows);
  const body: FetchAnswer = { memories };
  return { status: 200, body };
}

async function putMemory(world: ServerWorld, asked: Asked): Promise<Answer> {
  const { caller, repository, params, headers } = asked;
  const { data, limits } = world;
  const path = params.path ?? "";
  const misnamed = findPathProblem(path);
  if (misnamed) return misnamed;
  const precondition = readPrecondition(headers, { mayBeNew: true });
  if (precondition.refused) return precondition.refused;
  const read = await readText(asked, limits.memory.memoryBytes);
  if (read.refused) return read.refused;
  const examined = await examineMemory(world, path, read.value);
  if (examined.refused) {
    await data.audit(caller, [{ action: "write", repository, path, revision: null, outcome: examined.outcome }]);
    return examined.refused;
  }
  const outcome = await data.putMemory(caller, repository, examined.memory, precondition.expected, limits.memory);
  return answerOutcome(outcome, examined.memory.hash);
}

async function removeMemory({ data }: ServerWorld, { caller, repository, params, headers }: Asked): Promise<Answer> {
  const path = params.path ?? "";
  const misnamed = findPathProblem(path);
  if (misnamed) return misnamed;
  const precondition = readPrecondition(headers, { mayBeNew: false });
  if (precondition.refused) return precondition.refused;
  return answerOutcome(await data.removeMemory(caller, repository, path, precondition.expected ?? ""), "");
}

async function listVersions({ data }: ServerWorld, { caller, repository, params }: Asked): Promise<Answer> {
  const path = params.path ?? "";
  const versions = findEntryProblem(path) ? [] : await data.versions(caller, repository, path);
  if (versions.length === 0) return notFound("memory");
  await data.audit(caller, [{ action: "versions", repository, path, revision: null, outcome: "ok" }]);
  const body: VersionsAnswer = { versions };
  return { status: 200, body };
}

/** Reasons are fixed sentences: they never hold the path. */
function findPathProblem(path: string): Answer | null {
  const problem = findEntryProblem(path);
  return problem === null ? null : refuse(422, "path", `this path cannot be shared: ${problem}; rename the memory`);
}

function answerOutcome(outcome: RemoteOutcome, hash: string): Answer {
  if (outcome.kind === "refused") return refuse(422, "refused", outcome.reason);
  if (outcome.kind === "stale") {
    const message = "it was changed meanwhile: take the current one, merge, and send it again with its revision";
    const body: StaleAnswer = { problem: "stale", message, current: outcome.current };
    return { status: 412, body };
  }
  const { path, revision } = outcome;
  const body: WriteAnswer = { path, revision, hash };
  return { status: 200, body, headers: { etag: `"${revision}"` } };
}
