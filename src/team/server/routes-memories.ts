/** Routes of memories: list, fetch, write, remove, versions; and what a memory must pass before it is kept. */

import { type Memory, parseMemory } from "../../store/store.ts";
import { sha256 } from "../../text/hash.ts";
import { findSecrets } from "../../text/secrets.ts";
import { termsOf } from "../../text/terms.ts";
import type { FetchAnswer, ListAnswer, StaleAnswer, VersionsAnswer, WriteAnswer } from "../protocol.ts";
import { findEntryProblem, type RemoteOutcome } from "../remote.ts";
import { readShare } from "../travel.ts";
import { holdsTag, readObject, readPrecondition, readText } from "./request.ts";
import { type Answer, type Asked, notFound, Refusal, type Route, refuse, type TeamServer } from "./route.ts";
import type { SharedMemory } from "./team-data.ts";

const REPOSITORY = "/v1/teams/:team/repositories/:repository";
const MATCH = { text: 'The revision that the change is based on: `"REVISION"`, one strong tag.' };
const STALE = { text: "Another write was faster; nothing was written.", schema: "StaleAnswer" };

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

async function listMemories({ data }: TeamServer, asked: Asked): Promise<Answer> {
  const { caller, repository, headers } = asked;
  const tagOf = (state: string) => `"${sha256(`${caller.team}/${repository}/${state}`).slice(0, 32)}"`;
  const known = headers.get("if-none-match");
  if (known !== null && asked.state !== null) {
    const etag = tagOf(asked.state);
    // Nothing is read, so there is nothing for the audit log: clients ask every few seconds.
    if (holdsTag(known, etag)) return { status: 304, headers: { etag } };
  }
  const { id, state, entries } = await data.listMemories(caller, repository);
  await data.audit(caller, [{ action: "list", repository, outcome: "ok" }]);
  const body: ListAnswer = { id, entries };
  return { status: 200, body, headers: { etag: tagOf(state) } };
}

async function fetchMemories({ data, limits }: TeamServer, asked: Asked): Promise<Answer> {
  const { caller, repository } = asked;
  const { fetchPaths, requestBytes } = limits.memory;
  const { paths } = await readObject(asked, requestBytes);
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === "string")) {
    throw refuse(400, "form", 'the body must be {"paths": ["a.md", …]}');
  }
  if (paths.length > fetchPaths) {
    throw refuse(
      400,
      "form",
      `at most ${fetchPaths} memories are fetched at once: ask for the rest in further requests`,
    );
  }
  const wanted = [...new Set(paths)];
  if (wanted.some((path) => findEntryProblem(path))) {
    throw refuse(422, "path", "one of the paths cannot be that of a shared memory: ask only for what was listed");
  }
  const memories = wanted.length === 0 ? [] : await data.fetchMemories(caller, repository, wanted);
  const rows = memories.map(({ path, revision }) => ({ action: "fetch", repository, path, revision, outcome: "ok" }));
  await data.audit(caller, rows);
  const body: FetchAnswer = { memories };
  return { status: 200, body };
}

async function putMemory(server: TeamServer, asked: Asked): Promise<Answer> {
  const { caller, repository, params, headers } = asked;
  const { data, limits } = server;
  const path = checkPath(params.path);
  const expected = readPrecondition(headers, { mayBeNew: true });
  const text = await readText(asked, limits.memory.memoryBytes);
  const found = examine(path, text);
  if (found instanceof Refusal) {
    const { problem } = found.answer.body as { problem: string };
    await data.audit(caller, [{ action: "write", repository, path, outcome: `refused: ${problem}` }]);
    throw found;
  }
  const memory = await describe(server, found, text);
  return answerOutcome(await data.putMemory(caller, repository, memory, expected, limits.memory), memory.hash);
}

async function removeMemory({ data }: TeamServer, { caller, repository, params, headers }: Asked): Promise<Answer> {
  const path = checkPath(params.path);
  const expected = readPrecondition(headers, { mayBeNew: false }) ?? "";
  return answerOutcome(await data.removeMemory(caller, repository, path, expected), "");
}

async function listVersions({ data }: TeamServer, { caller, repository, params }: Asked): Promise<Answer> {
  const path = params.path ?? "";
  const versions = findEntryProblem(path) ? [] : await data.versions(caller, repository, path);
  if (versions.length === 0) throw notFound("memory");
  await data.audit(caller, [{ action: "versions", repository, path, outcome: "ok" }]);
  const body: VersionsAnswer = { versions };
  return { status: 200, body };
}

/** Reasons are fixed sentences: they never hold the path. */
function checkPath(path = ""): string {
  const problem = findEntryProblem(path);
  if (problem) throw refuse(422, "path", `this path cannot be shared: ${problem}; rename the memory`);
  return path;
}

function answerOutcome(outcome: RemoteOutcome, hash: string): Answer {
  if (outcome.kind === "refused") throw refuse(422, "refused", outcome.reason);
  if (outcome.kind === "stale") {
    const message = "it was changed meanwhile: take the current one, merge, and send it again with its revision";
    const body: StaleAnswer = { problem: "stale", message, current: outcome.current };
    return { status: 412, body };
  }
  const { path, revision } = outcome;
  const body: WriteAnswer = { path, revision, hash };
  return { status: 200, body, headers: { etag: `"${revision}"` } };
}

/** What is shown of a hit; more belongs in the body. */
const MAX_NAME = 200;
const MAX_DESCRIPTION = 1000;
/** A text that is all different words has no more in 250 kB; a tsvector takes a megabyte. */
const MAX_TERMS = 20_000;
/** About as much as the model of meaning reads at once. */
const MEANING_CHARACTERS = 1000;

/** The memory, or why it is not taken: a secret, something private, or what cannot be read for certain. */
function examine(path: string, text: string): Memory | Refusal {
  const secrets = findSecrets(text).map(({ rule, line }) => ({ rule, line }));
  if (secrets.length > 0) {
    const message = "the memory holds what looks like a secret: remove it, revoke it, and send the memory again";
    return refuse(422, "secret", message, { secrets });
  }
  const memory = parseMemory(path, text);
  if (memory.broken) {
    // It is unclear then whether it is private.
    const message =
      "its frontmatter cannot be read for certain: fix it (`memdir lint` names the line) and send it again";
    return refuse(422, "form", message);
  }
  if (isPrivate(memory)) {
    const message =
      "a memory about a user is private: write `share: true` into its frontmatter if the team should have it";
    return refuse(422, "private", message);
  }
  return memory;
}

/**
 * Marked as private, or of type user by its own word or by its folder. A file that names no type at all does not count as one:
 * the client asks more of what it sends (`travel.ts`), this is the last check.
 */
function isPrivate(memory: Memory): boolean {
  const share = readShare(memory);
  const isUser = memory.type === "user" && (memory.typeExplicit || memory.file.startsWith("user/"));
  return share === "no" || (isUser && share !== "yes");
}

/** With what search needs. Terms keep their repetitions and their order, as ranking wants them. */
async function describe({ embed }: TeamServer, memory: Memory, text: string): Promise<SharedMemory> {
  const { file, name, description, when, body } = memory;
  const meaning = `${name}. ${description}\n${body}`.slice(0, MEANING_CHARACTERS).toWellFormed();
  return {
    path: file,
    text,
    hash: sha256(text),
    name: name.slice(0, MAX_NAME).toWellFormed(),
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    terms: termsOf([name, description, ...when, body].join("\n")).slice(0, MAX_TERMS),
    vector: (await embed?.(meaning)) ?? null,
  };
}
