/** What client and server of team memory say to one another over HTTP, as schemas: types, checks and the OpenAPI document come from them. */

import * as v from "valibot";
import { findNameProblem } from "../disk/fence.ts";
import { INDEX_FILE, isDailyLog, isMemoryFile, OVERFLOW_FILE } from "../store/store.ts";
import { cutLine } from "../text/sanitise.ts";

/** Sent in `Memdir-Protocol`; a server that does not know it answers 400 and says which it knows. */
export const PROTOCOL = "1";

/** Bytes. The server says its own in `GET /v1/teams/:team`; these are its defaults and what a client assumes. */
export const LIMITS = {
  /** A memory of this size is a document, not a memory. */
  memoryBytes: 250_000,
  repositoryBytes: 64_000_000,
  repositoryMemories: 20_000,
  /** Of the history: what is over goes from its old end, and a write is never refused for it. */
  memoryVersions: 1_000,
  memoryHistoryBytes: 16_000_000,
  repositoryHistoryBytes: 256_000_000,
  repositoryTombstones: 20_000,
  requestBytes: 1_000_000,
  /** Texts asked for at once. */
  fetchPaths: 64,
} as const;

/** Weakest first. */
export const ROLES = ["reader", "writer", "admin"] as const;

/** The value as the schema gives it; where it does not fit, `fail` gets the field and what is expected there, never the value. */
export function readAs<S extends v.GenericSchema>(schema: S, value: unknown, fail: (problem: string) => Error) {
  const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true });
  if (success) return output;
  const [issue] = issues;
  const isMissing = issue.kind === "schema" && issue.type === "object" && issue.path !== undefined;
  // The library's own messages quote the value.
  const expected = issue.expected === "never" ? "it is not known here" : `expected ${issue.expected}`;
  const own = issue.message.startsWith("Invalid ") ? expected : issue.message;
  throw fail(`\`${v.getDotPath(issue) ?? "the whole"}\`: ${isMissing ? "it is missing" : own}`);
}

// --- Names and other single values.

/** Windows refuses longer paths below an ordinary home. */
const MAX_PATH_BYTES = 180;
const MAX_DEPTH = 4;
const WINDOWS_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const WINDOWS_SIGNS = /[<>:"|?*\x00-\x1f\x7f]/;

/** Why `path` cannot be shared, or null. Client and server both ask. */
export function findEntryProblem(path: string): string | null {
  const problem = findNameProblem(path);
  if (problem) return problem;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  if (!path.isWellFormed() || path !== path.normalize("NFC")) return "it is not well-formed NFC text";
  const parts = path.split("/");
  if (parts.length > MAX_DEPTH) return `it is deeper than ${MAX_DEPTH} folders`;
  if (parts.some((part) => part.startsWith("."))) return "a part of it begins with a dot";
  if (parts.some((part) => WINDOWS_NAMES.test(part) || WINDOWS_SIGNS.test(part) || /[. ]$/.test(part)))
    return "Windows does not allow such file names";
  if (!isMemoryFile(path)) return "it is not a memory: those are .md files that are neither an index nor a daily log";
  const folded = foldPath(path);
  if (foldPath(parts.at(-1) ?? "") === foldPath(INDEX_FILE) || folded === foldPath(OVERFLOW_FILE) || isDailyLog(folded))
    return "some disks cannot distinguish it from an index or a daily log: rename it";
  return null;
}

/** The same text for every spelling of a path that some disk takes for the same file: whatever its case and Unicode form. */
export function foldPath(path: string): string {
  if (/^[ -~]*$/.test(path)) return path.toLowerCase();
  // Upper case first, because that also joins what lower case keeps apart: ſ and s, ß and ss, ς and σ.
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/**
 * Paths that can be on one disk together, whatever kind of disk it is. `claim` adds a path, or returns what is in its way: another
 * spelling of the same name or of a folder above it, or a file where it needs a folder.
 */
export function openNames(): { claim(path: string): string | null } {
  const names = new Map<string, { spelling: string; isFolder: boolean }>();
  return {
    claim(path) {
      const parts = path.split("/");
      const spellings = parts.map((_, at) => {
        const spelling = parts.slice(0, at + 1).join("/");
        return { key: foldPath(spelling), spelling, isFolder: at < parts.length - 1 };
      });
      for (const { key, spelling, isFolder } of spellings) {
        const other = names.get(key);
        if (other && (other.spelling !== spelling || other.isFolder !== isFolder)) return other.spelling;
      }
      for (const { key, ...name } of spellings) names.set(key, name);
      return null;
    },
  };
}

/** In the server's words and the clients' alike. */
export function describeClash(other: string): string {
  return `it cannot exist beside ${other}: some disks cannot distinguish the two names; rename one of them`;
}

/** Why no remote takes this text, or null. */
export function findTextProblem(text: string, maxBytes: number = LIMITS.memoryBytes): string | null {
  if (!text.isWellFormed()) return "it is not well-formed Unicode text";
  if (text.includes("\0")) return "it contains the character U+0000, so it is not text";
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? `it has ${bytes} bytes, and ${maxBytes} are allowed` : null;
}

/** One part of a URL, and nothing in it means anything there; a token begins with its team's name. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_PERSON = 100;
/** Control characters, line and paragraph breaks, and marks that turn the direction of writing: no name has them. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/u;

/** Why a team or repository cannot have this name, or null. */
export function findPlainNameProblem(name: string): string | null {
  if (PLAIN.test(name)) return null;
  return "it must be 1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first";
}

export function findPersonProblem(name: string): string | null {
  if (name === "" || name.length > MAX_PERSON) return `it must have 1 to ${MAX_PERSON} characters`;
  if (name !== name.trim()) return "it must not begin or end with a space";
  if (!name.isWellFormed() || UNPRINTABLE.test(name)) return "it contains characters that cannot be displayed";
  if (name !== name.normalize("NFC")) return "it is not in the usual form of Unicode (NFC)";
  return null;
}

/** A text that `findProblem` has nothing against. */
function sound(findProblem: (text: string) => string | null) {
  const isSound = (text: string) => findProblem(text) === null;
  return v.pipe(
    v.string(),
    v.check(isSound, ({ input }) => findProblem(input) ?? ""),
  );
}

/** A text that people are shown: on one line, not long, and nothing in it steers a terminal. */
const ONE_LINE = v.transform((text: string) => cutLine(text, 300));
const SHOWN = v.pipe(v.string(), ONE_LINE);
const shown = (about: string) => v.pipe(v.string(), v.description(about), ONE_LINE);
const COUNT = v.pipe(v.number(), v.integer(), v.minValue(0));
const TIME = v.pipe(v.string(), v.isoTimestamp());
/** Where it is only shown, a time that is none is left out. */
const SHOWN_TIME = v.fallback(TIME, "");
const ROLE = v.picklist(ROLES, `it must be one of ${ROLES.join(", ")}, or null for none`);
const PATH = sound(findEntryProblem);
const NAME = sound(findPlainNameProblem);
const PERSON = sound(findPersonProblem);
/** Goes into a header. */
const REVISION = v.pipe(
  v.string(),
  v.regex(/^[\x21\x23-\x7e]{1,200}$/, "it must be a revision as the server gave it"),
  v.description("Opaque; a change of the memory must name it."),
);
const HASH = v.pipe(
  v.string(),
  v.regex(/^([0-9a-f]{64})?$/, "it must be a sha256 in hex"),
  v.description("sha256 of the text in hex; empty for a tombstone."),
);

// --- Memories.

/** One memory as a remote lists it, without its text. */
export const RemoteEntry = v.pipe(
  v.object({
    /** Below the remote's root, with `/`. */
    path: PATH,
    hash: HASH,
    revision: REVISION,
    deleted: v.pipe(v.boolean(), v.description("A tombstone: it was there, and was removed.")),
    /** Who wrote it last, and when; "" where the remote does not know. */
    author: v.fallback(SHOWN, ""),
    at: SHOWN_TIME,
  }),
  v.check(({ hash, deleted }) => deleted === (hash === ""), "a tombstone has no hash, and everything else has one"),
);
export type RemoteEntry = v.InferOutput<typeof RemoteEntry>;

/** GET …/memories?since=STATE, with an ETag: 304 when nothing changed. Tombstones are listed. */
export const ListAnswer = v.object({
  id: v.pipe(
    shown("Which repository this is: what a client noted about another one does not count here."),
    v.minLength(1),
  ),
  entries: v.array(RemoteEntry),
  state: v.optional(shown("Of the repository; `?since=STATE` asks for what changed after it.")),
  since: v.optional(shown("The state that was asked for, where the entries are only what changed after it.")),
});

const TOO_MANY = `it may name at most ${LIMITS.fetchPaths} memories: ask for the rest in further requests`;

/** POST …/fetch. What is not visible, gone or redacted is left out. */
export const FetchRequest = v.object({
  paths: v.pipe(v.array(v.string()), v.maxLength(LIMITS.fetchPaths, TOO_MANY)),
  had: v.optional(
    v.pipe(
      v.array(v.object({ path: PATH, revision: REVISION, hash: HASH })),
      v.maxLength(LIMITS.fetchPaths),
      v.description("Versions that the caller once got from here: are they still in the history?"),
    ),
  ),
});
export const Fetched = v.object({ path: PATH, revision: REVISION, hash: HASH, text: v.string() });
export type Fetched = v.InferOutput<typeof Fetched>;
export const FetchAnswer = v.object({
  memories: v.array(Fetched),
  lost: v.optional(
    v.pipe(
      v.array(v.string()),
      v.description("Paths of `had` whose version the server has lost, as after a restored backup."),
    ),
  ),
});

/**
 * PUT …/memories/PATH with the text as body (text/markdown) and `If-Match: "REVISION"` or `If-None-Match: *`;
 * DELETE …/memories/PATH with `If-Match`. 200 with WriteAnswer; 412 with StaleAnswer; 413, 422 (secret, form), 403 with ProblemAnswer; 428 without a precondition.
 */
export const Markdown = v.pipe(v.string(), v.description("The memory, byte for byte."));
export const WriteAnswer = v.object({ path: PATH, revision: REVISION, hash: HASH });
export type WriteAnswer = v.InferOutput<typeof WriteAnswer>;
export const StaleAnswer = v.object({
  problem: v.literal("stale"),
  message: SHOWN,
  current: v.nullable(RemoteEntry),
});
export type StaleAnswer = v.InferOutput<typeof StaleAnswer>;

/** Every other failure. A message never holds the text of a memory. */
export const ProblemAnswer = v.object({
  problem: v.fallback(shown("One word for programs."), ""),
  message: v.fallback(shown("For people: what is wrong and how to fix it."), ""),
  /** For 422 with problem "secret". */
  secrets: v.optional(v.fallback(v.array(v.object({ rule: SHOWN, line: COUNT })), [])),
});
export type ProblemAnswer = v.InferOutput<typeof ProblemAnswer>;

export const Version = v.object({
  revision: REVISION,
  author: v.fallback(SHOWN, ""),
  at: SHOWN_TIME,
  deleted: v.boolean(),
  redacted: v.boolean(),
  text: v.nullable(v.string()),
});
export type Version = v.InferOutput<typeof Version>;
/** GET …/versions/PATH?before=REVISION&limit=N&hash=SHA256: the newest of those, oldest first. */
export const VersionsAnswer = v.object({
  versions: v.array(Version),
  more: v.optional(
    v.pipe(v.boolean(), v.description("There are older ones: ask with `before` and the first revision.")),
  ),
});
export type VersionsAnswer = v.InferOutput<typeof VersionsAnswer>;

export const SearchHit = v.object({
  repository: SHOWN,
  path: SHOWN,
  name: SHOWN,
  description: SHOWN,
  author: SHOWN,
  at: SHOWN_TIME,
  score: v.number(),
});
export type SearchHit = v.InferOutput<typeof SearchHit>;
export const SearchAnswer = v.object({ hits: v.array(SearchHit) });

/** POST …/redact, for admins of the repository. */
export const RedactRequest = v.object({ path: v.string(), revision: v.string() });

// --- The team.

export const RepositoryAnswer = v.object({ name: SHOWN, memories: COUNT, bytes: COUNT, role: ROLE });
export type RepositoryAnswer = v.InferOutput<typeof RepositoryAnswer>;

/** GET /v1/teams/:team, for every token of the team. Role: in the whole team. Repositories: those that the caller may read. */
export const TeamAnswer = v.object({
  team: SHOWN,
  person: SHOWN,
  role: v.nullable(ROLE),
  limits: v.object(v.entriesFromList(Object.keys(LIMITS) as (keyof typeof LIMITS)[], v.optional(COUNT, 0))),
  repositories: v.array(RepositoryAnswer),
});

/** POST …/repositories, for admins of the team. 201, or 409 where it is there already. */
export const RepositoryRequest = v.object({ name: NAME });

/** GET …/people, POST …/people (201, 409). */
export const PersonRow = v.object({
  id: SHOWN,
  name: SHOWN,
  role: v.nullable(ROLE),
  repositories: v.array(v.object({ repository: SHOWN, role: ROLE })),
});
export type PersonRow = v.InferOutput<typeof PersonRow>;
export const PeopleAnswer = v.object({ people: v.array(PersonRow) });
/** Role null: rights in single repositories only. */
export const PersonRequest = v.object({ name: PERSON, role: v.optional(v.nullable(ROLE), null) });

/** PUT …/people/:person/role. `repository` null: for the whole team. `role` null takes the right away. */
export const RoleRequest = v.object({ repository: v.optional(v.nullable(NAME), null), role: v.nullable(ROLE) });
export type RoleRequest = v.InferOutput<typeof RoleRequest>;

/** GET …/tokens */
export const TokenRow = v.object({
  id: SHOWN,
  person: SHOWN,
  label: SHOWN,
  created: TIME,
  expires: v.nullable(TIME),
  revoked: v.nullable(TIME),
  lastUsed: v.nullable(TIME),
});
export type TokenRow = v.InferOutput<typeof TokenRow>;
export const TokensAnswer = v.object({ tokens: v.array(TokenRow) });

/** Longer ones are rotated by hand; ten years stand for "never" where a policy wants a number. */
const MAX_DAYS = 3650;
const DAYS = `it must be a whole number from 1 to ${MAX_DAYS}, or null for a token that does not expire`;

/** Unless stated: a token that was forgotten ends by itself. */
export const TOKEN_DAYS = 90;

/** POST …/tokens; the token is in this one answer and nowhere else. DELETE …/tokens/:id revokes. */
export const TokenRequest = v.object({
  person: PERSON,
  label: v.optional(
    sound((label) => (label === "" ? null : findPersonProblem(label))),
    "",
  ),
  days: v.optional(
    v.nullable(v.pipe(v.number(DAYS), v.integer(DAYS), v.minValue(1, DAYS), v.maxValue(MAX_DAYS, DAYS))),
    TOKEN_DAYS,
  ),
});
export type TokenRequest = v.InferOutput<typeof TokenRequest>;
export const TokenAnswer = v.object({
  id: SHOWN,
  token: v.pipe(v.string(), v.description("It is not shown again.")),
});
export type TokenAnswer = v.InferOutput<typeof TokenAnswer>;

/** POST …/login, where the server has an identity provider: the person opens `url` and confirms `userCode` there. */
export const LoginAnswer = v.object({
  handle: v.pipe(v.string(), v.maxLength(2_000), v.description("For …/login/finish; only who started may know it.")),
  userCode: SHOWN,
  url: SHOWN,
  seconds: v.pipe(v.number(), v.minValue(0), v.description("How long it can be confirmed.")),
  interval: v.pipe(v.number(), v.minValue(0), v.description("Seconds between two questions.")),
});
export type LoginAnswer = v.InferOutput<typeof LoginAnswer>;
/** POST …/login/finish; asked again until it is not pending any more. */
export const LoginRequest = v.object({ handle: v.pipe(v.string(), v.maxLength(2_000)) });
export const LoginFinished = v.object({
  pending: v.boolean(),
  token: v.optional(v.string()),
  hours: v.optional(v.number()),
});

/** GET …/audit?before=&limit=, newest first; `before` is the `at` of the last row of the page before. */
export const AuditRow = v.object({
  at: TIME,
  person: SHOWN,
  tokenId: SHOWN,
  /** list, fetch, write, remove, versions, redact, search, admin:… */
  action: SHOWN,
  repository: v.nullable(SHOWN),
  path: v.nullable(SHOWN),
  revision: v.nullable(SHOWN),
  outcome: SHOWN,
});
export type AuditRow = v.InferOutput<typeof AuditRow>;
export const AuditAnswer = v.object({ rows: v.array(AuditRow) });

/** Where there is nothing else to say. */
export const DoneAnswer = v.object({ done: v.literal(true) });
export type DoneAnswer = v.InferOutput<typeof DoneAnswer>;
export const HealthAnswer = v.object({ status: v.literal("ok"), version: v.string() });

export type Role = (typeof ROLES)[number];

export function covers(role: Role | null, wanted: Role): boolean {
  return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}

/** A whole number in a query, from 1 to `max`. */
export function numberUpTo(max: number, usual: number) {
  const problem = `it must be a whole number from 1 to ${max}`;
  return v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, problem),
      v.description(`How many, from 1 to ${max}; ${usual} by default.`),
      v.transform(Number),
      v.minValue(1, problem),
      v.maxValue(max, problem),
    ),
    String(usual),
  );
}
