/** Messages of JSON-RPC: their shape, what is wrong with one, and the answer to what is none. */

export type Id = string | number;

export type Params = Readonly<Record<string, unknown>>;

/** A request has an id and a method, a notification only a method, an answer only an id. */
export interface Message {
  jsonrpc: "2.0";
  id?: Id;
  method?: string;
  params?: Params;
  result?: unknown;
  error?: unknown;
}

export type Answer = { jsonrpc: "2.0"; id: Id | null } & (
  | { result: object }
  | { error: { code: number; message: string; data?: unknown } }
);

export const CODES = {
  /** The text is no JSON. */
  unreadable: -32_700,
  /** The JSON is no message. */
  invalid: -32_600,
  noMethod: -32_601,
  badParams: -32_602,
  internal: -32_603,
  noSession: -32_001,
  /** A header of HTTP says something else than the message. */
  headerMismatch: -32_020,
  badVersion: -32_022,
} as const;

/** A failure that is the request's own; what goes wrong inside a tool is a result instead. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(kind: keyof typeof CODES, message: string, data?: unknown) {
    super(message);
    this.name = "ProtocolError";
    this.code = CODES[kind];
    this.data = data;
  }
}

/** Null for a request, a notification or an answer. */
export function findMessageProblem(value: unknown): string | null {
  if (!isObject(value)) return "a message is a JSON object";
  const { jsonrpc, id, method, params } = value;
  if (jsonrpc !== "2.0") return 'a message says "jsonrpc": "2.0"';
  if (id !== undefined && !isId(id)) return "an id is a text or a whole number";
  if (method === undefined) {
    return id !== undefined && ("result" in value || "error" in value) ? null : "a request names its method";
  }
  if (typeof method !== "string") return "a method is a text";
  return params === undefined || isObject(params) ? null : "params are an object";
}

/** `to` is what it answers, whose id is named if it has one. */
export function refusal(kind: keyof typeof CODES, message: string, to?: unknown): Answer {
  const id = isObject(to) ? to.id : undefined;
  return { jsonrpc: "2.0", id: isId(id) ? id : null, error: { code: CODES[kind], message } };
}

export function failure(id: Id | null, error: unknown): Answer {
  const { code, message, data } =
    error instanceof ProtocolError
      ? error
      : { code: CODES.internal, message: (error as Error).message, data: undefined };
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isId(id: unknown): id is Id {
  return typeof id === "string" || Number.isSafeInteger(id);
}
