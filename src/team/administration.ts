/** What a member or admin of a team asks its server for: people, roles, tokens, search, the audit log, redaction. */

import type * as v from "valibot";
import { MemdirError } from "../errors.ts";
import {
  expectAnswer,
  type HttpOptions,
  type HttpRequest,
  misbehaved,
  type Network,
  openHttp,
  problemOf,
} from "./http.ts";
import {
  AuditAnswer,
  type AuditRow,
  DoneAnswer,
  PeopleAnswer,
  PersonRow,
  RepositoryAnswer,
  type Role,
  SearchAnswer,
  type SearchHit,
  TeamAnswer,
  TokenAnswer,
  type TokenRow,
  TokensAnswer,
} from "./protocol.ts";

/** Every call may fail with `network`; a missing right is `network`, too, with the server's words. */
export interface Administration {
  view(): Promise<TeamAnswer>;
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
  const ask = async <S extends v.GenericSchema>(
    form: S,
    method: HttpRequest["method"],
    path: string,
    body?: object,
  ): Promise<v.InferOutput<S>> => {
    const answer = await send({ method, path: `${base}${path}`, body, maxBytes: MAX_BYTES });
    const { status } = answer;
    if (status >= 200 && status < 300) return expectAnswer(url, form, answer);
    if (status < 400) throw misbehaved(url, `answered ${status}`);
    const message = problemOf(answer).message || `${url} answered ${status}: it does not know this request`;
    throw new MemdirError(CODES[status] ?? "network", message, { details: { status } });
  };
  return {
    view: () => ask(TeamAnswer, "GET", ""),
    people: async () => {
      try {
        return (await ask(PeopleAnswer, "GET", "/people")).people;
      } catch (error) {
        const { status } = ((error as MemdirError).details ?? {}) as { status?: number };
        if (status === 403 || status === 404) return null;
        throw error;
      }
    },
    addPerson: async (name, role) => void (await ask(PersonRow, "POST", "/people", { name, role })),
    setRole: async (person, repository, role) =>
      void (await ask(DoneAnswer, "PUT", `/people/${encodeURIComponent(person)}/role`, { repository, role })),
    addRepository: async (name) => void (await ask(RepositoryAnswer, "POST", "/repositories", { name })),
    tokens: async () => (await ask(TokensAnswer, "GET", "/tokens")).tokens,
    addToken: (person, options) => ask(TokenAnswer, "POST", "/tokens", { person, ...options }),
    revokeToken: async (id) => void (await ask(DoneAnswer, "DELETE", `/tokens/${encodeURIComponent(id)}`)),
    search: async (words, limit) => {
      const query = new URLSearchParams({ q: words, limit: String(limit) });
      return (await ask(SearchAnswer, "GET", `/search?${query}`)).hits;
    },
    audit: async ({ limit, before }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
      return (await ask(AuditAnswer, "GET", `/audit?${query}`)).rows;
    },
    redact: async (repository, path, revision) => {
      const place = `/repositories/${encodeURIComponent(repository)}/redact`;
      await ask(DoneAnswer, "POST", place, { path, revision });
    },
  };
}

const CODES: Record<number, "not-found" | "conflict" | "usage"> = {
  404: "not-found",
  409: "conflict",
  400: "usage",
  422: "usage",
};
