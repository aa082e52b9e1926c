/** A model server on loopback that says what a test tells it to, in the real protocols, and remembers what it was asked. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import type { Answer, Protocol, RecordedRequest, Refusal, Reply } from "./reply.ts";
import { responses } from "./responses.ts";
import { sideAnswer } from "./side-calls.ts";

export interface ModelServer {
  /** For ANTHROPIC_BASE_URL. */
  url: string;
  /** For OPENAI_BASE_URL. */
  openaiUrl: string;
  requests: RecordedRequest[];
  /** Replies are given in this order; a function sees the request first. A request without a reply is answered with 500. */
  queue: (...replies: (Reply | Answering)[]) => void;
  close: () => Promise<void>;
}

export type Answering = (request: RecordedRequest) => Reply | Promise<Reply>;

export interface ModelServerOptions {
  /** Answers requests that are not part of the script, such as the one for a title; null: the next reply of the queue. */
  aside?: (request: RecordedRequest) => Reply | null;
}

export async function startModelServer({ aside }: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const replies: (Reply | Answering)[] = [];
  const server = http.createServer(async (incoming, response) => {
    const request = await record(incoming);
    requests.push(request);
    response.on("close", () => {
      request.aborted = !response.writableFinished;
    });
    const side = sideAnswer(request);
    if (side) return json(response, 200, side);
    const protocol = protocolOf(request.path);
    if (!protocol) return json(response, 404, { error: { type: "not_found_error", message: "no such path" } });
    const refusal = protocol.check(request);
    if (refusal) return refuse(response, protocol, refusal);
    const next = aside?.(request) ?? replies.shift() ?? { status: 500, message: "the test has queued no reply" };
    const reply = typeof next === "function" ? await next(request) : next;
    if ("before" in reply) return stayAway(response, reply.before);
    if ("status" in reply) return refuse(response, protocol, reply);
    const streams = protocol.streams?.(request) ?? request.body.stream;
    if (!streams) return json(response, 200, protocol.whole(reply, request, requests.length));
    await stream(response, protocol, reply, request, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    openaiUrl: `${url}/v1`,
    requests,
    queue: (...more) => void replies.push(...more),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function protocolOf(path: string): Protocol | null {
  if (path === "/v1/messages") return anthropic;
  if (path === "/v1/chat/completions") return openai;
  if (path === "/v1/responses") return responses;
  return /^\/v1beta\/models\/[^/]+:(stream)?[gG]enerateContent$/.test(path) ? gemini : null;
}

async function record(incoming: http.IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks).toString("utf8");
  let body: unknown = null;
  try {
    body = JSON.parse(raw);
  } catch {
    // The protocol's check refuses it.
  }
  const { method = "", url = "", headers } = incoming;
  return { method, path: url.split("?")[0] ?? "", headers, raw, body, aborted: false };
}

async function stream(
  response: http.ServerResponse,
  protocol: Protocol,
  answer: Answer,
  request: RecordedRequest,
  n: number,
): Promise<void> {
  const { delayMs = 0, pace, fault } = answer;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  const send = async (events: string[]) => {
    for (const event of events) {
      if (response.destroyed) return;
      response.write(event);
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      await pace?.(event);
    }
  };
  await send(protocol.begin(answer, request, n));
  switch (fault) {
    case undefined:
      await send(protocol.end(answer, request, n));
      response.end();
      return;
    case "drop":
      // What was written must have left before, or the client would see less than was meant.
      setTimeout(() => response.destroy(), 30);
      return;
    case "close":
      response.end();
      return;
    case "malformed":
      response.end(protocol.malformed);
      return;
    case "overloaded":
      response.end(protocol.overloaded);
      return;
    case "hang":
      return;
  }
}

function stayAway(response: http.ServerResponse, how: "hang" | "drop" | "page"): void {
  if (how === "drop") response.destroy();
  if (how === "page") {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html><body>Please log in</body></html>");
  }
}

function refuse(response: http.ServerResponse, protocol: Protocol, refusal: Refusal): void {
  const { status, headers = {}, body } = refusal;
  if (body === undefined) {
    json(response, status, protocol.errorBody(refusal), headers);
  } else {
    response.writeHead(status, headers);
    response.end(body);
  }
}

function json(response: http.ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
