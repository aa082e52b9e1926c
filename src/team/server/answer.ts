/** What a route answers, as a value: status, body, headers. */

import type { ProblemAnswer } from "../protocol.ts";

export interface Answer {
  status: number;
  /** As JSON. */
  body?: unknown;
  /** As it is, with its media type; instead of `body`. */
  text?: { type: string; content: string };
  headers?: Record<string, string>;
}

/** `message` says what, which and how to fix it; it never holds contents, tokens or SQL. */
export function refuse(
  status: number,
  problem: string,
  message: string,
  more: { headers?: Record<string, string>; secrets?: ProblemAnswer["secrets"] } = {},
): Answer {
  const body: ProblemAnswer = { problem, message, ...(more.secrets && { secrets: more.secrets }) };
  return { status, body, headers: more.headers };
}

/** The same words for what is not there and for what the caller may not know of. */
export function notFound(what: string): Answer {
  return refuse(404, "not-found", `there is no such ${what}, or you have no right to see it: ask an admin of the team`);
}

export function toResponse(answer: Answer, requestId: string): Response {
  const { status, body, text, headers = {} } = answer;
  const content = text?.content ?? (body === undefined ? null : JSON.stringify(body));
  const type = text?.type ?? (body === undefined ? null : "application/json; charset=utf-8");
  return new Response(content, {
    status,
    headers: {
      // Memories are not for caches between us and the client, nor for a browser that guesses at types.
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "memdir-request": requestId,
      ...(type && { "content-type": type }),
      ...headers,
    },
  });
}
