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
import * as protocol from "./protocol.ts";

export type Administration = ReturnType<typeof openAdministration>;

/** People, tokens and rows of a large team; no memories. */
const MAX_BYTES = 16_000_000;

/** Every call may fail with `network`; a missing right is `network`, too, with the server's words. */
export function openAdministration(network: Network, options: HttpOptions & { team: string }) {
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
    const message = problemOf(answer).message || `${url} answered ${status}: it does not support this request`;
    throw new MemdirError(CODES[status] ?? "network", message, { details: { status } });
  };
  return {
    view: () => ask(protocol.TeamAnswer, "GET", ""),
    /** For admins. Null where the caller is none. */
    people: () =>
      ask(protocol.PeopleAnswer, "GET", "/people").then(
        ({ people }) => people,
        (error) => {
          const { status } = (error.details ?? {}) as { status?: number };
          if (status === 403 || status === 404) return null;
          throw error;
        },
      ),
    addPerson: (name: string, role: protocol.RoleRequest["role"]) =>
      ask(protocol.PersonRow, "POST", "/people", { name, role }),
    /** `repository` null: in the whole team. `role` null takes it away. */
    setRole: (person: string, repository: string | null, role: protocol.RoleRequest["role"]) =>
      ask(protocol.DoneAnswer, "PUT", `/people/${encodeURIComponent(person)}/role`, { repository, role }),
    addRepository: (name: string) => ask(protocol.RepositoryAnswer, "POST", "/repositories", { name }),
    tokens: async () => (await ask(protocol.TokensAnswer, "GET", "/tokens")).tokens,
    addToken: (person: string, options: Omit<protocol.TokenRequest, "person">) =>
      ask(protocol.TokenAnswer, "POST", "/tokens", { person, ...options }),
    revokeToken: (id: string) => ask(protocol.DoneAnswer, "DELETE", `/tokens/${encodeURIComponent(id)}`),
    search: async (words: string, limit: number) => {
      const query = new URLSearchParams({ q: words, limit: String(limit) });
      return (await ask(protocol.SearchAnswer, "GET", `/search?${query}`)).hits;
    },
    /** Newest first. */
    audit: async ({ limit, before }: { limit: number; before?: string | undefined }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
      return (await ask(protocol.AuditAnswer, "GET", `/audit?${query}`)).rows;
    },
    redact: (repository: string, path: string, revision: string) =>
      ask(protocol.DoneAnswer, "POST", `/repositories/${encodeURIComponent(repository)}/redact`, { path, revision }),
  };
}

const CODES: Record<number, "not-found" | "conflict" | "usage"> = {
  404: "not-found",
  409: "conflict",
  400: "usage",
  422: "usage",
};
