/** What a test tells the model server to answer. */

export interface ToolCall {
  id?: string;
  name: string;
  /** Of the tool; Responses only. */
  namespace?: string;
  input?: unknown;
  /** Sent instead of `input`, as it is. */
  rawInput?: string;
}

export interface WireUsage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** A proper answer. Each text of a list is a delta of its own. */
export interface Answer {
  text?: string | string[];
  tools?: ToolCall[];
  /** Signed thinking before everything else; Anthropic only. */
  thinking?: string;
  /** The provider's word; without it what the content asks for. */
  stop?: string;
  usage?: WireUsage;
  /** Between two events. */
  delayMs?: number;
  /** Called after each event; the next one waits for it. */
  pace?: (event: string) => void | Promise<void>;
  /** What happens after the deltas, instead of a proper end. */
  fault?: Fault;
}

export type Fault =
  | "drop" // the socket is destroyed
  | "close" // the response ends as if it were complete
  | "hang" // nothing more comes
  | "malformed" // an event whose data is no JSON
  | "overloaded"; // an error event inside the stream

/** An error status with the provider's body. */
export interface Refusal {
  status: number;
  type?: string;
  message?: string;
  headers?: Record<string, string>;
  /** Sent instead of the provider's body. */
  body?: string;
}

/** No headers ever come, the socket is destroyed before any, or a web page comes. */
export type Silence = { before: "hang" | "drop" | "page" };

export type Reply = Answer | Refusal | Silence;

export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** As it came. */
  raw: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  body: any;
  /** Whether the client went away before the answer was complete. */
  aborted: boolean;
}

/** An event of the stream as it goes over the wire. */
export type WireEvent = string;

export interface Protocol {
  /** Whether the answer is to be streamed; without it, whether the body says `stream`. */
  streams?: (request: RecordedRequest) => boolean;
  /** A refusal if the real API would refuse the request. */
  check: (request: RecordedRequest) => Refusal | null;
  begin: (answer: Answer, request: RecordedRequest, n: number) => WireEvent[];
  end: (answer: Answer, request: RecordedRequest, n: number) => WireEvent[];
  malformed: WireEvent;
  overloaded: WireEvent;
  errorBody: (refusal: Refusal) => object;
  whole: (answer: Answer, request: RecordedRequest, n: number) => object;
}

export function deltasOf({ text = [] }: Answer): string[] {
  return typeof text === "string" ? [text] : text;
}

export function inputOf({ input = {}, rawInput }: ToolCall): string {
  return rawInput ?? JSON.stringify(input);
}

/** In pieces, as models stream it. */
export function piecesOf(json: string): string[] {
  const middle = Math.ceil(json.length / 2);
  return [json.slice(0, middle), json.slice(middle)].filter((piece) => piece !== "");
}
