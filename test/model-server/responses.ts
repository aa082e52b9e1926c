/** The server's side of OpenAI's Responses API, as far as Codex uses it. */
import type { Answer, Protocol, RecordedRequest, Refusal, ToolCall } from "./reply.ts";
import { deltasOf, inputOf, piecesOf } from "./reply.ts";

interface Item {
  type: string;
  call_id?: string;
}

export const responses: Protocol = {
  check({ headers, body }) {
    if (!/^Bearer \S/.test(String(headers.authorization))) return { status: 401, message: "Missing bearer" };
    if (!body || typeof body !== "object") return bad("the body is no JSON");
    if (typeof body.model !== "string") return bad("Missing required parameter: 'model'.");
    if (!Array.isArray(body.input) || body.input.length === 0) return bad("Missing required parameter: 'input'.");
    return checkInput(body.input);
  },

  begin(answer, request, n) {
    const response = { ...head(request, n), status: "in_progress", output: [] };
    return [event("response.created", { response }), ...itemsOf(answer, n).flatMap(eventsOf)];
  },

  end(answer, request, n) {
    return [event("response.completed", { response: this.whole(answer, request, n) })];
  },

  whole(answer, request, n) {
    const output = itemsOf(answer, n).map(({ item }) => item);
    return { ...head(request, n), status: "completed", output, usage: usageOf(answer) };
  },

  malformed: 'event: response.output_text.delta\ndata: {"type": "response.outp\n\n',
  overloaded: event("response.failed", {
    response: { id: "resp", status: "failed", error: { code: "server_is_overloaded", message: "Overloaded" } },
  }),
  errorBody: ({ type = "invalid_request_error", message = "told to" }) => ({
    error: { message, type, param: null, code: type },
  }),
};

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function head({ body }: RecordedRequest, n: number) {
  return { id: `resp_${n}`, object: "response", created_at: 1, model: body.model, error: null };
}

/** An item of the output, and the pieces in which it is streamed. */
type Made = ReturnType<typeof itemsOf>[number];

function itemsOf(answer: Answer, n: number) {
  const text = deltasOf(answer).join("");
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", id: `msg_${n}`, status: "completed", role: "assistant", content };
  return [
    ...(answer.text === undefined ? [] : [{ item: message, deltas: deltasOf(answer) }]),
    ...(answer.tools ?? []).map((call, i) => ({ item: callOf(call, n, i), deltas: piecesOf(inputOf(call)) })),
  ];
}

/** A tool inside a namespace is called by both names. */
function callOf(call: ToolCall, n: number, i: number) {
  const { name, namespace } = call;
  const call_id = call.id ?? `call_${n}_${i}`;
  const item = { type: "function_call", id: `fc_${n}_${i}`, status: "completed", call_id, name };
  return { ...item, ...(namespace && { namespace }), arguments: inputOf(call) };
}

function eventsOf(made: Made, output_index: number): string[] {
  const { item, deltas } = made;
  const at = { item_id: item.id, output_index };
  const [open, inner] = "content" in item ? [{ content: [] }, textEvents] : [{ arguments: "" }, argumentEvents];
  return [
    event("response.output_item.added", { output_index, item: { ...item, ...open, status: "in_progress" } }),
    ...inner(at, deltas),
    event("response.output_item.done", { output_index, item }),
  ];
}

function textEvents(at: object, deltas: string[]): string[] {
  const place = { ...at, content_index: 0 };
  const part = (text: string) => ({ ...place, part: { type: "output_text", text, annotations: [] } });
  const text = deltas.join("");
  return [
    event("response.content_part.added", part("")),
    ...deltas.map((delta) => event("response.output_text.delta", { ...place, delta })),
    event("response.output_text.done", { ...place, text }),
    event("response.content_part.done", part(text)),
  ];
}

function argumentEvents(at: object, deltas: string[]): string[] {
  return [
    ...deltas.map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
    event("response.function_call_arguments.done", { ...at, arguments: deltas.join("") }),
  ];
}

function usageOf({ usage = {} }: Answer) {
  const { input = 10, output = 5, cacheRead = 0 } = usage;
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + cacheRead + output,
  };
}

/** Every call has its output, every output its call. */
function checkInput(input: Item[]): Refusal | null {
  const ids = (type: string) => input.flatMap((item) => (item.type === type ? [item.call_id] : []));
  const [calls, outputs] = [ids("function_call"), ids("function_call_output")];
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) return bad(`No tool output found for function call ${open}.`);
  const alone = outputs.find((id) => !calls.includes(id));
  return alone === undefined ? null : bad(`No tool call found for function call output with call_id ${alone}.`);
}

function bad(message: string): Refusal {
  return { status: 400, message };
}
