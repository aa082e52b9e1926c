/** Routes of memories: list, fetch, write, remove, versions; and what a memory must pass before it is kept. */

import * as v from "valibot";
import { isOfType, type Memory, parseMemory } from "../../store/store.ts";
import { sha256 } from "../../text/hash.ts";
import { findSecrets } from "../../text/secrets.ts";
import { termsOf } from "../../text/terms.ts";
import * as protocol from "../protocol.ts";
import { readShare } from "../travel.ts";
import type { WriteOutcome } from "./data-memories.ts";
import type { SharedMemory } from "./data-search.ts";
import { type Answer, holdsTag, notFound, Refusal, readPrecondition, refuse, route, type TeamServer } from "./route.ts";

const REPOSITORY = "/v1/teams/:team/repositories/:repository";
const READER = { to: "repository", role: "reader" } as const;
const WRITER = { to: "repository", role: "writer" } as const;
const MATCH = 'The revision that the change is based on: `"REVISION"`, one strong tag.';
const REVISION = "it must be a revision as the server gave it";
const HASH = "it must be a sha256 in hex";

export const MEMORY_ROUTES = [
  route(`GET ${REPOSITORY}/memories`, {
    access: READER,
    action: "list",
    joins: "list",
    summary: "Every memory of the repository without its text, tombstones too",
    query: v.object({
      since: v.optional(
        v.pipe(v.string(), v.description("The `state` of an earlier answer: only what changed after it.")),
      ),
    }),
    headers: { "If-None-Match": "The ETag of an earlier answer." },
    reply: [200, "The list, with an ETag.", protocol.ListAnswer],
    async answer({ data }, { caller, repository, headers, state: known, listed, query: { since = null } }) {
      const tagOf = (state: string) => `"${sha256(`${caller.team}/${repository}/${state}`).slice(0, 32)}"`;
      const tag = headers.get("if-none-match");
      // Nothing is read, so there is nothing for the audit log: clients ask every few seconds.
      if (tag !== null && known !== null && holdsTag(tag, tagOf(known)))
        return { status: 304, headers: { etag: tagOf(known) } };
      const body = listed ?? (await data.listMemories(caller, repository, since));
      return { body, headers: { etag: tagOf(body.state) } };
    },
  }),
  route(`POST ${REPOSITORY}/fetch`, {
    access: READER,
    action: "fetch",
    summary: "The texts of these memories; what is gone or redacted is left out",
    body: protocol.FetchRequest,
    reply: [200, "The texts.", protocol.FetchAnswer],
    async answer({ data }, { caller, repository, body }) {
      const wanted = [...new Set(body.paths)];
      const problem = "one of the paths cannot belong to a shared memory: ask only for paths from the list";
      if (wanted.some((path) => protocol.findEntryProblem(path))) throw refuse(422, "path", problem);
      const memories = wanted.length === 0 ? [] : await data.fetchMemories(caller, repository, wanted);
      const read = { action: "fetch", repository, outcome: "ok" };
      const rows = memories.map(({ path, revision }) => ({ ...read, path, revision }));
      if (rows.length > 0) await data.audit(caller, rows);
      const lost = body.had && (await data.findLost(caller, repository, body.had));
      return { body: { memories, ...(lost && { lost }) } };
    },
  }),
  route(`PUT ${REPOSITORY}/memories/:path{.+}`, {
    access: WRITER,
    action: "write",
    joins: "write",
    summary: "Writes a memory that is new or based on a known revision",
    headers: { "If-Match": MATCH, "If-None-Match": "`*` for a memory that must not be there yet." },
    body: protocol.Markdown,
    reply: [200, "Written, or there already.", protocol.WriteAnswer],
    async answer(server, { caller, repository, params, headers, body: text }) {
      const { data, limits } = server;
      const path = checkPath(params.path);
      const expected = readPrecondition(headers, { mayBeNew: true });
      const found = examine(path, text);
      if (found instanceof Refusal) {
        const { problem } = found.answer.body as { problem: string };
        await data.audit(caller, [{ action: "write", repository, path, outcome: `refused: ${problem}` }]);
        throw found;
      }
      const memory = await describe(server, found, text);
      const outcome = await data.write(caller, { repository, path, expected, memory }, limits.memory);
      return answerOutcome(outcome, memory.hash);
    },
  }),
  route(`DELETE ${REPOSITORY}/memories/:path{.+}`, {
    access: WRITER,
    action: "remove",
    joins: "write",
    summary: "Leaves a tombstone in the place of a memory; its versions stay",
    headers: { "If-Match": MATCH },
    reply: [200, "Removed, or gone already.", protocol.WriteAnswer],
    async answer({ data, limits }, { caller, repository, params, headers }) {
      const path = checkPath(params.path);
      const expected = readPrecondition(headers, { mayBeNew: false });
      return answerOutcome(await data.write(caller, { repository, path, expected, memory: null }, limits.memory), "");
    },
  }),
  route(`GET ${REPOSITORY}/versions/:path{.+}`, {
    access: READER,
    action: "versions",
    summary: "Versions of a memory, the newest that fit into an answer, oldest first",
    query: v.object({
      before: v.optional(
        v.pipe(v.string(), v.regex(/^\d{1,18}$/, REVISION), v.description("A revision: only older ones.")),
      ),
      hash: v.optional(
        v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, HASH), v.description("Only those with this text.")),
      ),
      limit: protocol.numberUpTo(200, 100),
    }),
    reply: [200, "The versions.", protocol.VersionsAnswer],
    async answer({ data }, { caller, repository, params: { path = "" }, query }) {
      if (protocol.findEntryProblem(path)) throw notFound("memory");
      const body = await data.versions(caller, repository, path, { ...query, bytes: VERSIONS_BYTES });
      if (body.versions.length === 0) throw notFound("memory");
      return { body };
    },
  }),
];

/** Some of the largest memories, or a hundred usual ones: what one answer holds in memory. */
const VERSIONS_BYTES = 4_000_000;

/** Reasons are fixed sentences: they never hold the path. */
function checkPath(path = ""): string {
  const problem = protocol.findEntryProblem(path);
  if (problem) throw refuse(422, "path", `this path cannot be shared: ${problem}; rename the memory`);
  return path;
}

function answerOutcome(outcome: WriteOutcome, hash: string): Answer<protocol.WriteAnswer> {
  if (outcome.kind === "refused") throw refuse(422, "refused", outcome.reason);
  if (outcome.kind === "stale") {
    const message =
      "it changed in the meantime: fetch the current version, merge, and send it again with that revision";
    const body: protocol.StaleAnswer = { problem: "stale", message, current: outcome.current };
    throw new Refusal({ status: 412, body });
  }
  const { path, revision } = outcome;
  return { body: { path, revision, hash }, headers: { etag: `"${revision}"` } };
}

/** What is shown of a hit; more belongs in the body. */
const MAX_NAME = 200;
const MAX_DESCRIPTION = 1000;
/** About as much as the model of meaning reads at once. */
const MEANING_CHARACTERS = 1000;

/** The memory, or why it is not taken: a secret, something private, or what cannot be read for certain. */
function examine(path: string, text: string): Memory | Refusal {
  const secrets = findSecrets(text).map(({ rule, line }) => ({ rule, line }));
  if (secrets.length > 0) return refuse(422, "secret", REFUSED.secret, { secrets });
  const memory = parseMemory(path, text);
  // It is unclear then whether it is private.
  if (memory.broken) return refuse(422, "form", REFUSED.form);
  return isPrivate(memory) ? refuse(422, "private", REFUSED.private) : memory;
}

const REFUSED = {
  secret: "the memory contains what looks like a secret: remove it, revoke it, and send the memory again",
  form: "its frontmatter cannot be parsed reliably: fix it (`memdir lint` names the line) and send it again",
  private: "a memory about a user is private: write `share: true` into its frontmatter if the team should have it",
};

/**
 * Marked as private, or of type user by its own word or by its folder. A file that names no type at all does not count as one:
 * the client asks more of what it sends (`travel.ts`), this is the last check.
 */
function isPrivate(memory: Memory): boolean {
  const share = readShare(memory);
  const isUser = isOfType(memory, "user");
  return share === "no" || (isUser && share !== "yes");
}

/** With what search needs. Terms keep their repetitions and their order, as ranking wants them. */
async function describe({ embed }: TeamServer, memory: Memory, text: string): Promise<SharedMemory> {
  const { name, description, when, body } = memory;
  const meaning = `${name}. ${description}\n${body}`.slice(0, MEANING_CHARACTERS).toWellFormed();
  return {
    text,
    hash: sha256(text),
    name: name.slice(0, MAX_NAME).toWellFormed(),
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    terms: termsOf([name, description, ...when, body].join("\n")),
    vector: (await embed?.(meaning)) ?? null,
  };
}
