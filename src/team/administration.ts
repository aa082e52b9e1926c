/** What a member or admin of a team asks its server for: people, roles, tokens, search, the audit log, redaction. */

import { MemdirError } from "../errors.ts";
import {
  type HttpAnswer,
  type HttpOptions,
  type HttpRequest,
  harmless,
  misbehaved,
  type Network,
  openHttp,
  parseObject,
  problemOf,
} from "./http.ts";
import type { AuditRow, PersonRow, RepositoryAnswer, Role, SearchHit, TokenAnswer, TokenRow } from "./protocol.ts";

export interface TeamView {
  person: string;
  /** In the whole team. */
  role: Role | null;
  repositories: RepositoryAnswer[];
}

/** Every call may fail with `network`; a missing right is `network`, too, with the server's words. */
export interface Administration {
  view(): Promise<TeamView>;
  /** For admins. Null where the caller is none. */
  people(): Promise<PersonRow[] | null>;
  addPerson(name: string, role: Role | null): Promise<void>;
  /** `repository` null: in the whole team. `role` null takes it away. */
  setRole(person: string, repository: string | null, role: Role | null): Promise<void>;
  addRepository(name: string): Promise<void>;
  tokens(): Promise<TokenRow[]>;
  addToken(person: string, options: { label: string; days: number | null }): Promise<TokenAnswer>;
  revokeToken(id: string): Promise<void>;
  search(words: string, limit: number): Promise<SearchHit[]>;
  /** Newest first. */
  audit(options: { limit: number; before?: string | undefined }): Promise<AuditRow[]>;
  redact(repository: string, path: string, revision: string): Promise<void>;
}

/** People, tokens and rows of a large team; no memories. */
const MAX_BYTES = 16_000_000;

export function openAdministration(network: Network, options: HttpOptions & { team: string }): Administration {
  const { url, send } = openHttp(network, options);
  const base = `/v1/teams/${encodeURIComponent(options.team)}`;
  const ask = (method: HttpRequest["method"], path: string, body?: object): Promise<HttpAnswer> =>
    send({ method, path: `${base}${path}`, body, maxBytes: MAX_BYTES });
  const read = async (path: string): Promise<Record<string, unknown>> => expectObject(url, await ask("GET", path));
  const change = async (method: HttpRequest["method"], path: string, body?: object): Promise<void> => {
    expectObject(url, await ask(method, path, body));
  };
  return {
    view: async () => {
      const value = await read("");
      const repositories = rowsOf<RepositoryAnswer>(value.repositories, ["name"]).map(withRole);
      return { person: harmless(value.person, 100), role: roleOf(value.role), repositories };
    },
    people: async () => {
      const answer = await ask("GET", "/people");
      if (answer.status === 403 || answer.status === 404) return null;
      const people = rowsOf<PersonRow>(expectObject(url, answer).people, ["id", "name"]);
      return people.map((row) => ({
        ...row,
        role: roleOf(row.role),
        repositories: rowsOf<PersonRow["repositories"][number]>(row.repositories, ["repository"]).map(withRole),
      }));
    },
    addPerson: (name, role) => change("POST", "/people", { name, role }),
    setRole: (person, repository, role) =>
      change("PUT", `/people/${encodeURIComponent(person)}/role`, { repository, role }),
    addRepository: (name) => change("POST", "/repositories", { name }),
    tokens: async () => rowsOf<TokenRow>((await read("/tokens")).tokens, ["id", "person"]),
    addToken: async (person, options) => {
      const { id, token } = expectObject(url, await ask("POST", "/tokens", { person, ...options }));
      if (typeof id !== "string" || typeof token !== "string") throw misbehaved(url, "answered without a token");
      return { id: harmless(id, 100), token };
    },
    revokeToken: (id) => change("DELETE", `/tokens/${encodeURIComponent(id)}`),
    search: async (words, limit) => {
      const query = new URLSearchParams({ q: words, limit: String(limit) });
      const rows = rowsOf<SearchHit>((await read(`/search?${query}`)).hits, ["repository", "path", "name"]);
      return rows.map((row) => ({ ...row, score: Number(row.score) || 0 }));
    },
    audit: async ({ limit, before }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
      return rowsOf<AuditRow>((await read(`/audit?${query}`)).rows, ["at", "person", "action"]);
    },
    redact: (repository, path, revision) =>
      change("POST", `/repositories/${encodeURIComponent(repository)}/redact`, { path, revision }),
  };
}

const CODES: Record<number, "not-found" | "conflict" | "usage"> = {
  404: "not-found",
  409: "conflict",
  400: "usage",
  422: "usage",
};

function expectObject(url: string, answer: HttpAnswer): Record<string, unknown> {
  const { status, text } = answer;
  const value = parseObject(text);
  if (status >= 200 && status < 300 && value) return value;
  if (status === 204) return {};
  const { message } = problemOf(answer);
  const code = CODES[status] ?? "network";
  if (status >= 400) throw new MemdirError(code, message || `${url} answered ${status}: it does not know this request`);
  throw misbehaved(url, `answered ${status}`);
}

/** Objects with these texts in them; every text is made harmless. */
function rowsOf<T>(value: unknown, required: readonly (keyof T & string)[]): T[] {
  if (!Array.isArray(value)) return [];
  const rows = value.filter(
    (row) => typeof row === "object" && row !== null && required.every((key) => typeof row[key] === "string"),
  );
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, item]) => [key, typeof item === "string" ? harmless(item) : item]),
    ),
  ) as T[];
}

function withRole<T extends { role: Role }>(row: T): T {
  return { ...row, role: roleOf(row.role) ?? "reader" };
}

function roleOf(value: unknown): Role | null {
  return value === "reader" || value === "writer" || value === "admin" ? value : null;
}
