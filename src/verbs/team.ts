/** `team`: who shares memories here, and what an admin of the team does about it. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeFolders } from "../disk/fence.ts";
import { isObject, MemdirError, onDisk } from "../errors.ts";
import { findMemory } from "../memory/memories.ts";
import { openTeam, type Team } from "../open-team.ts";
import { statePath, walk } from "../store/store.ts";
import type { Network } from "../team/http.ts";
import { formatMembership, writeToken } from "../team/membership.ts";
import { isConflictPath } from "../team/merge.ts";
import { type Role, TOKEN_DAYS } from "../team/protocol.ts";
import { bold, choice, count, countMemories, dim, type Input, number, type Said, text, verb, warn } from "../verb.ts";

const INPUT = {
  action: text("what to do", "ACTION"),
  subject: text("whom or what it is about", "NAME"),
  more: text("the rest: more words to search for, or a revision", "MORE"),
  role: choice(["reader", "writer", "admin", "none"], "reader, writer or admin; none removes it", "ROLE"),
  repository: text("the role applies only in this repository; redact: in this one", "NAME"),
  "token-file": text("token: the file to write it to; a token is never shown", "FILE"),
  days: number("token: how many days it is valid (default: 90)", { min: 1, max: 3650 }),
  label: text("token: what it is for"),
  limit: number("search, audit: at most this many", { min: 1, max: 1000 }),
  before: text("audit: only older entries", "TIME"),
};

type TeamInput = Input<typeof INPUT>;

interface Action<R = unknown> {
  /** What it is called with. */
  words: string;
  run(team: Team, input: TeamInput & { subject: string }, cwd: string): Promise<R>;
  say(result: R): Said;
}

export function makeTeam(network: Partial<Network>) {
  const calls = Object.entries(ACTIONS).map(([name, { words }]) => `${name} ${words}`.trim());
  return verb({
    args: ["action?", "subject?", "more…?"],
    input: INPUT,
    about: `Without an action, shows who shares memories here. Actions: ${calls.join(", ")}.`,
    examples: ["team token bob --token-file bob-token"],
    writes: ({ action }) =>
      action !== undefined && !["tokens", "search", "audit", "versions", "export"].includes(action),
    async run(memdir, input, { cwd }): Promise<unknown> {
      const { run } = actionOf(input);
      return run(openTeam(memdir, network), { subject: "", ...input }, cwd);
    },
    json: (result) => (isSearch(result) ? result.hits : result),
    exitCode: (result) => (isSearch(result) && result.hits.length === 0 ? 1 : 0),
    say: (result, { input }) => actionOf(input).say(result),
  });
}

/** Throws `usage` for an action that there is not, and for one with too few words or too many. */
function actionOf({ action: name, subject, more }: TeamInput): Action {
  if (name === undefined) return STATUS;
  const found = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!found) {
    const names = Object.keys(ACTIONS).join(", ");
    throw new MemdirError("usage", `there is no \`memdir team ${name}\`; there are ${names}`);
  }
  const wanted = found.words.split(" ").filter((word) => word !== "").length;
  const given = [subject, more].filter((word) => word !== undefined).length;
  if (given < wanted || (given > wanted && !found.words.endsWith("…")))
    throw new MemdirError("usage", `usage: memdir team ${name} ${found.words}`.trim());
  return found;
}

function action<R>(value: Action<R>): Action {
  return value as Action;
}

/** Who I am in the team, who else is, when we last met, and what waits for a person. */
const STATUS = action({
  words: "",
  async run({ administration, directory, membership }) {
    const view = await administration.view();
    // Asking without the right would only be noted as refused.
    const people = view.role === "admin" ? await administration.people() : null;
    const here = walk(directory.path).files;
    const own = view.repositories.find(({ name }) => name === membership.repository);
    return {
      url: formatMembership(membership),
      directory: directory.path,
      person: view.person,
      role: own?.role ?? view.role,
      memories: { here: here.length, there: own?.memories ?? 0 },
      lastSync: statSync(statePath(directory, "sync.json"), { throwIfNoEntry: false })?.mtime.toISOString() ?? null,
      conflicts: here.filter(isConflictPath),
      repositories: view.repositories,
      // Only admins see them.
      people,
    };
  },
  say: ({ url, directory, person, role, memories, lastSync, conflicts, repositories, people }) => [
    [bold(url), " ", dim(directory)],
    `you are ${person}, ${role ?? "without a role here"}`,
    `${countMemories(memories.here)} here, ${memories.there} there; last sync ${lastSync ?? "never"}`,
    ...repositories.map(({ name, role, memories }) => `  ${name}: ${countMemories(memories)}, you are ${role}`),
    ...(people ?? []).map(({ name, role, repositories }) => {
      const roles = [role, ...repositories.map((one) => `${one.role} in ${one.repository}`)];
      return `  ${name}: ${roles.filter((one) => one !== null).join(", ") || "no role"}`;
    }),
    ...conflicts.map((path) => [warn("conflict"), ` ${path}: merge it with its memory, then forget it`]),
  ],
});

const ACTIONS: Readonly<Record<string, Action>> = {
  /** With --repository the role counts there only. */
  add: action({
    words: "PERSON",
    async run({ administration }, { subject: person, role: asked, repository = null }) {
      const role = roleOf(asked ?? "writer");
      try {
        await administration.addPerson(person, repository === null ? role : null);
      } catch (error) {
        if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
        const advice = `\`memdir team role ${quote(person)} --role ROLE\` changes what they may do`;
        throw new MemdirError("conflict", `${person} is in the team already: ${advice}`);
      }
      if (repository !== null) await administration.setRole(person, repository, role);
      return { person, role, repository };
    },
    say: (member) => [
      `${describeRole(member)}; memdir team token ${quote(member.person)} --token-file FILE makes a token`,
    ],
  }),
  role: action({
    words: "PERSON",
    async run({ administration }, { subject: person, role: asked, repository = null }) {
      if (asked === undefined) throw new MemdirError("usage", "which role? --role reader, writer, admin or none");
      const role = roleOf(asked);
      await administration.setRole(person, repository, role);
      return { person, role, repository };
    },
    say: (member) => [describeRole(member)],
  }),
  /** Roles, rights in repositories and tokens, all at once. */
  remove: action({
    words: "PERSON",
    async run({ administration }, { subject: person }) {
      await administration.removePerson(person);
      return { removed: person };
    },
    say: ({ removed }) => [`${removed} has no role and no token any more; what they wrote stays`],
  }),
  /** Never on the terminal: what is shown there is kept by others. */
  token: action({
    words: "PERSON",
    async run({ administration }, { subject: person, "token-file": given, days = TOKEN_DAYS, label = "" }, cwd) {
      if (given === undefined)
        throw new MemdirError("usage", "where to? --token-file FILE; a token is not shown on the terminal");
      let id = "";
      const make = async () => {
        const made = await administration.addToken(person, { label, days });
        id = made.id;
        return made.token;
      };
      const file = await writeToken(resolve(cwd, given), make, "choose another file");
      return { id, person, file, days };
    },
    say({ id, person, file, days }) {
      return [
        `token ${id} for ${person} is in ${file}, valid for ${count(days, "day")}: hand it over safely, then remove the file`,
      ];
    },
  }),
  tokens: action({
    words: "",
    run: ({ administration }) => administration.tokens(),
    say: (tokens) =>
      table(tokens, ({ id, person, label, revoked, expires, lastUsed }) => {
        const state = revoked ? `revoked ${day(revoked)}` : expires ? `until ${day(expires)}` : "no end";
        return [id, person, label || "-", state, lastUsed ? `used ${day(lastUsed)}` : "never used"];
      }),
  }),
  revoke: action({
    words: "ID",
    async run({ administration }, { subject: id }) {
      await administration.revokeToken(id);
      return { revoked: id };
    },
    say: ({ revoked }) => [`token ${revoked} is not valid any more`],
  }),
  repository: action({
    words: "NAME",
    async run({ administration, membership }, { subject: repository }) {
      await administration.addRepository(repository);
      return { repository, url: formatMembership({ ...membership, repository }) };
    },
    say: ({ url }) => [`members join it with memdir join ${url}`],
  }),
  search: action({
    words: "WORDS…",
    run: async ({ administration }, { subject, more, limit = 10 }) => ({
      hits: await administration.search([subject, more ?? ""].join(" ").trim(), Math.min(limit, MAX_HITS)),
    }),
    say: ({ hits }) =>
      hits.length === 0
        ? ["nothing that you may read in this team has these words"]
        : hits.map(({ repository, path, name, description, author, at }) => [
            bold(`${repository}/${path}`),
            ` ${name}: ${description} `,
            dim(`${author} ${day(at)}`),
          ]),
  }),
  audit: action({
    words: "",
    run: ({ administration }, { limit = 50, before }) => administration.audit({ limit, before }),
    say: (rows) =>
      table(rows, ({ at, person, action, repository, path, outcome }) => {
        const what = [repository, path].filter((part) => part !== null).join("/");
        return [at, person, action, what || "-", outcome];
      }),
  }),
  versions: action({
    words: "NAME",
    async run(team, { subject }) {
      const path = await pathOf(team, subject);
      const found = await team.remote.versions(path);
      if (found.length === 0) throw new MemdirError("not-found", `the server has no version of ${path}`);
      const bytesOf = (text: string | null) => (text === null ? null : Buffer.byteLength(text));
      return { path, versions: found.map(({ text, ...rest }) => ({ ...rest, bytes: bytesOf(text) })) };
    },
    say: ({ versions }) =>
      table(versions, ({ revision, author, at, bytes }) => {
        return [revision, at || "-", author || "-", bytes === null ? "removed or redacted" : `${bytes} bytes`];
      }),
  }),
  /** The next sync brings it here. */
  restore: action({
    words: "NAME REVISION",
    async run(team, { subject, more: revision = "" }) {
      const path = await pathOf(team, subject);
      const version = (await team.remote.versions(path)).find((one) => one.revision === revision);
      if (!version || version.text === null)
        throw new MemdirError(
          "not-found",
          `the server has no text of ${path} at ${revision}: \`memdir team versions\` lists them`,
        );
      const current = (await team.remote.list()).entries.find((entry) => entry.path === path && !entry.deleted);
      const change = { kind: "put", path, text: version.text, expected: current?.revision ?? null } as const;
      const [outcome] = await team.remote.apply([change]);
      if (outcome?.kind !== "done") {
        const why = outcome?.kind === "refused" ? outcome.reason : "it was changed at this moment; run it again";
        throw new MemdirError("conflict", `${path} was not restored: ${why}`);
      }
      return { path, restored: revision, revision: outcome.revision };
    },
    say: ({ path, restored, revision }) => [
      `${path} is again as it was at ${restored}, as revision ${revision}; memdir sync brings it here`,
    ],
  }),
  /** Everything that the server has of this repository now, as files. */
  export: action({
    words: "FOLDER",
    async run({ remote }, { subject }, cwd) {
      const folder = resolve(cwd, subject);
      const entries = (await remote.list()).entries.filter(({ deleted }) => !deleted);
      const texts = await remote.fetch(entries);
      onDisk("write", folder, () => {
        makeFolders(folder);
        if (readdirSync(folder).length > 0)
          throw new MemdirError("conflict", `${folder} is not empty: name another folder`);
        for (const [path, text] of texts) {
          makeFolders(dirname(join(folder, path)));
          writeFileSync(join(folder, path), text, { flag: "wx" });
        }
      });
      return { folder, exported: texts.size, listed: entries.length };
    },
    say: ({ folder, exported, listed }) => [
      `${countMemories(exported)} in ${folder}${exported < listed ? `; ${listed - exported} changed meanwhile: run it again` : ""}`,
    ],
  }),
  redact: action({
    words: "NAME REVISION",
    async run(team, { subject, more: revision = "", repository = team.membership.repository }) {
      const path = await pathOf(team, subject);
      // The same text may be there again: a version that was restored, or a change that was taken back.
      const versions = repository === team.membership.repository ? await team.remote.versions(path) : [];
      const text = versions.find((one) => one.revision === revision)?.text ?? null;
      const same = versions.filter((one) => text !== null && one.text === text && one.revision !== revision);
      await team.administration.redact(repository, path, revision);
      return { repository, path, revision, redacted: true, same: same.map((one) => one.revision) };
    },
    say: ({ path, revision, same }) => [
      ...(same.length > 0
        ? [
            `the text of ${path} at ${revision} is gone, but the server has the same text at ${same.join(", ")}: redact that, too`,
          ]
        : [`the text of ${path} at ${revision} is gone from the server for good`]),
      "copies on people's machines are theirs to remove, and a secret must be revoked where it is valid",
    ],
  }),
};

export const team = makeTeam({});

/** The server gives no more at once. */
const MAX_HITS = 50;

function isSearch(result: unknown): result is { hits: readonly unknown[] } {
  return isObject(result) && Array.isArray(result.hits);
}

/** By name as everywhere, or as a path of the server: it may be gone here. */
async function pathOf({ directory }: Team, name: string): Promise<string> {
  try {
    return (await findMemory([directory], name)).file;
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "not-found") throw error;
    if (name.endsWith(".md")) return name;
    const advice = "name a memory that was removed by its file, as `memdir team audit` shows it";
    throw new MemdirError("not-found", `${error.message}; ${advice}`);
  }
}

function roleOf(asked: Role | "none"): Role | null {
  return asked === "none" ? null : asked;
}

function describeRole({ person, role, repository }: { person: string; role: Role | null; repository: string | null }) {
  return `${person} ${role === null ? "has no role of their own" : `is ${role}`} in ${repository ?? "the team"}`;
}

function table<T>(items: readonly T[], toRow: (item: T) => readonly string[]): Said {
  return items.length === 0 ? [] : [{ rows: items.map(toRow) }];
}

function day(time: string): string {
  return time.slice(0, 10);
}

function quote(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : JSON.stringify(text);
}
