/** The server's side of OpenAI's chat completions. */
import type { Answer, Protocol, RecordedRequest, Refusal } from "./reply.ts";
import { deltasOf, inputOf, piecesOf } from "./reply.ts";

export const openai: Protocol = {
  check({ body }) {
    if (!body || typeof body !== "object") return bad("the body is no JSON");
    if (!Array.isArray(body.messages) || body.messages.length === 0) return bad("messages: at least one is required");
    return checkMessages(body.messages);
  },

  begin(answer, { body }, n) {
    const deltas: object[] = [
      { role: "assistant", content: "" },
      ...deltasOf(answer).map((content) => ({ content })),
      ...(answer.tools ?? []).flatMap((call, index) => {
        const id = call.id ?? `call_${n}_${index}`;
        const [first = "", ...rest] = piecesOf(inputOf(call));
        return [
          { tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] },
          ...[first, ...rest].map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
        ];
      }),
    ];
    return deltas.map((delta) => chunk(body, n, { choices: [{ index: 0, delta, finish_reason: null }] }));
  },

  end(answer, { body }, n) {
    const usage = body.stream_options?.include_usage ? [chunk(body, n, { choices: [], usage: usageOf(answer) })] : [];
    const last = { index: 0, delta: {}, finish_reason: stopOf(answer) };
    return [chunk(body, n, { choices: [last] }), ...usage, "data: [DONE]\n\n"];
  },

  whole(answer, { body }, n) {
    const message = { role: "assistant", content: deltasOf(answer).join("") };
    return {
      id: `chatcmpl-${n}`,
      object: "chat.completion",
      model: body.model,
      choices: [{ index: 0, message, finish_reason: stopOf(answer) }],
      usage: usageOf(answer),
    };
  },

  malformed: 'data: {"choices": [{"del\n\n',
  overloaded: `data: ${JSON.stringify({ error: { type: "server_error", message: "The server is overloaded" } })}\n\n`,
  errorBody: ({ type = "invalid_request_error", message = "told to" }) => ({
    error: { message, type, param: null, code: type },
  }),
};

function chunk(body: { model?: string }, n: number, fields: object): string {
  const head = { id: `chatcmpl-${n}`, object: "chat.completion.chunk", created: 1, model: body.model };
  return `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
}

function stopOf({ stop, tools = [] }: Answer): string {
  return stop ?? (tools.length > 0 ? "tool_calls" : "stop");
}

function usageOf({ usage = {} }: Answer) {
  const { input = 10, output = 5, cacheRead = 0 } = usage;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

function checkMessages(messages: RecordedRequest["body"]["messages"]): Refusal | null {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) return bad("a message with role 'tool' answers no call");
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) break;
    open = (message.tool_calls ?? []).map(({ id }: { id: string }) => id);
  }
  return open.length > 0 ? bad("tool_calls must be followed by tool messages") : null;
}

function bad(message: string): Refusal {
  return { status: 400, message };
}
