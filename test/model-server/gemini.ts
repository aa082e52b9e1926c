/** The server's side of Google's generateContent, as far as Gemini CLI uses it. */
import type { Answer, Protocol, RecordedRequest, Refusal } from "./reply.ts";
import { deltasOf, inputOf } from "./reply.ts";

interface Content {
  role?: string;
  parts?: { functionCall?: { name: string }; functionResponse?: { name: string } }[];
}

const STATUSES: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

export const gemini: Protocol = {
  streams: ({ path }) => path.endsWith(":streamGenerateContent"),

  check({ headers, body }) {
    if (!headers["x-goog-api-key"]) return { status: 403, message: "Method doesn't allow unregistered callers" };
    if (!body || typeof body !== "object") return bad("Invalid JSON payload received");
    if (!Array.isArray(body.contents) || body.contents.length === 0) return bad("contents is not specified");
    return checkContents(body.contents);
  },

  begin(answer, request, n) {
    const parts = [...deltasOf(answer).map((text) => ({ text })), ...callsOf(answer)];
    return parts.map((part) => event({ candidates: [candidate([part])], ...head(request, n) }));
  },

  end(answer, request, n) {
    const last = { ...candidate([{ text: "" }]), finishReason: answer.stop ?? "STOP" };
    return [event({ candidates: [last], usageMetadata: usageOf(answer), ...head(request, n) })];
  },

  whole(answer, request, n) {
    const parts = [{ text: deltasOf(answer).join("") }, ...callsOf(answer)];
    const only = { ...candidate(parts), finishReason: answer.stop ?? "STOP" };
    return { candidates: [only], usageMetadata: usageOf(answer), ...head(request, n) };
  },

  malformed: 'data: {"candidates": [{"cont\r\n\r\n',
  overloaded: event({ error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }),
  errorBody: ({ status, type, message = "told to" }) => ({
    error: { code: status, message, status: type ?? STATUSES[status] ?? "INTERNAL" },
  }),
};

function event(fields: object): string {
  return `data: ${JSON.stringify(fields)}\r\n\r\n`;
}

function head({ path }: RecordedRequest, n: number) {
  return { modelVersion: /models\/([^:]+)/.exec(path)?.[1], responseId: `response-${n}` };
}

function candidate(parts: object[]) {
  return { content: { role: "model", parts }, index: 0 };
}

/** Never in pieces: a call comes whole, its arguments as an object. */
function callsOf({ tools = [] }: Answer) {
  return tools.map((call) => ({ functionCall: { name: call.name, args: JSON.parse(inputOf(call)) } }));
}

function usageOf({ usage = {} }: Answer) {
  const { input = 10, output = 5, cacheRead = 0 } = usage;
  const [promptTokenCount, candidatesTokenCount] = [input + cacheRead, output];
  return { promptTokenCount, candidatesTokenCount, totalTokenCount: promptTokenCount + candidatesTokenCount };
}

/** As many responses as calls, right behind them. */
function checkContents(contents: Content[]): Refusal | null {
  let open = 0;
  for (const { role, parts = [] } of contents) {
    if (parts.length === 0) return bad("contents.parts must not be empty");
    const answered = parts.filter((part) => part.functionResponse).length;
    if (answered !== open) return bad("the number of function response parts is not that of function call parts");
    open = role === "model" ? parts.filter((part) => part.functionCall).length : 0;
  }
  return open > 0 ? bad("a function call is not followed by its response") : null;
}

function bad(message: string): Refusal {
  return { status: 400, message };
}
