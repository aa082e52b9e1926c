/** The server's side of Anthropic's Messages API. */
import type { Answer, Protocol, RecordedRequest, Refusal, ToolCall } from "./reply.ts";
import { deltasOf, inputOf, piecesOf } from "./reply.ts";

const VERSIONS = ["2023-06-01", "2026-10-21"];
const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export const anthropic: Protocol = {
  check({ headers, body }) {
    if (!headers["x-api-key"] && !/^Bearer \S/.test(String(headers.authorization))) {
      return { status: 401, message: "x-api-key header is required" };
    }
    if (!VERSIONS.includes(String(headers["anthropic-version"]))) return bad("anthropic-version: unknown version");
    if (!body || typeof body !== "object") return bad("the body is no JSON");
    if (!(body.max_tokens > 0)) return bad("max_tokens: Field required");
    if (!Array.isArray(body.messages) || body.messages.length === 0) return bad("messages: at least one is required");
    const marks = JSON.stringify(body).match(/"cache_control":\{/g) ?? [];
    if (marks.length > 4) return bad("A maximum of 4 blocks with cache_control may be provided");
    return checkMessages(body.messages);
  },

  begin(answer, { body }, n) {
    const { input = 10, cacheRead = 0, cacheWrite = 0 } = answer.usage ?? {};
    const usage = {
      input_tokens: input,
      output_tokens: 1,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    };
    const message = { ...head(body, n), content: [], stop_reason: null, stop_sequence: null, usage };
    const blocks = [
      ...(answer.thinking ? [thinkingDeltas(answer.thinking)] : []),
      ...(answer.text === undefined ? [] : [textDeltas(answer)]),
      ...(answer.tools ?? []).map((call, i) => toolDeltas(call, `toolu_${n}_${i}`)),
    ];
    return [
      event("message_start", { message }),
      event("ping", {}),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event("content_block_start", { index, content_block: start }),
        ...deltas.map((delta) => event("content_block_delta", { index, delta })),
        event("content_block_stop", { index }),
      ]),
    ];
  },

  end(answer) {
    const stop = { stop_reason: stopOf(answer), stop_sequence: null };
    return [
      event("message_delta", { delta: stop, usage: { output_tokens: answer.usage?.output ?? 5 } }),
      event("message_stop", {}),
    ];
  },

  whole(answer, { body }, n) {
    const text = deltasOf(answer).join("");
    return {
      ...head(body, n),
      content: [{ type: "text", text }],
      stop_reason: stopOf(answer),
      usage: { input_tokens: answer.usage?.input ?? 10, output_tokens: answer.usage?.output ?? 5 },
    };
  },

  malformed: 'event: content_block_delta\ndata: {"type": "content_block_de\n\n',
  overloaded: event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  errorBody: ({ status, type, message = "told to" }) => ({
    type: "error",
    error: { type: type ?? TYPES[status] ?? "api_error", message },
    request_id: "req_test",
  }),
};

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function head(body: { model?: string }, n: number) {
  return { id: `msg_${n}`, type: "message", role: "assistant", model: body.model };
}

function thinkingDeltas(thinking: string) {
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature: "signed" },
    ],
  };
}

function textDeltas(answer: Answer) {
  return {
    start: { type: "text", text: "" },
    deltas: deltasOf(answer).map((text) => ({ type: "text_delta", text })),
  };
}

function toolDeltas(call: ToolCall, id: string) {
  return {
    start: { type: "tool_use", id: call.id ?? id, name: call.name, input: {} },
    deltas: ["", ...piecesOf(inputOf(call))].map((partial_json) => ({ type: "input_json_delta", partial_json })),
  };
}

function stopOf({ stop, tools = [] }: Answer): string {
  return stop ?? (tools.length > 0 ? "tool_use" : "end_turn");
}

/** What the real API is known to refuse: empty texts, and calls without their results right behind them. */
function checkMessages(messages: RecordedRequest["body"]["messages"]): Refusal | null {
  let open: string[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    if (content.length === 0) return bad(`messages.${i}: content must be non-empty`);
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (blocks.some((block: { type: string; text?: string }) => block.type === "text" && block.text === "")) {
      return bad(`messages.${i}: text content blocks must be non-empty`);
    }
    const ids = (type: string, key: string): string[] =>
      blocks.flatMap((block: Record<string, string>) => (block.type === type ? [block[key]] : []));
    const answered = ids("tool_result", "tool_use_id");
    if (open.some((id) => !answered.includes(id)) || answered.some((id) => !open.includes(id))) {
      return bad(`messages.${i}: tool_use ids and tool_result blocks do not match`);
    }
    open = role === "assistant" ? ids("tool_use", "id") : [];
  }
  return open.length > 0 ? bad("tool_use ids were found without tool_result blocks immediately after") : null;
}

function bad(message: string): Refusal {
  return { status: 400, message };
}
