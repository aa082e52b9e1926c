/** Who is let in over HTTP: programs of this machine that know the token, and no web page that a browser has open. */

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { refusal } from "./message.ts";

export interface HttpAnswer {
  status: number;
  /** As JSON; none for what is only acknowledged. */
  body?: unknown;
  headers?: Record<string, string>;
}

const METHODS = ["POST", "DELETE"];
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Null for who may come in. In this order: a page that reached us by a false name learns nothing, and nobody gets further without the token. */
export function findIntruder(
  { headers, method = "", url = "" }: IncomingMessage,
  { token, path }: { token: string; path: string },
): HttpAnswer | null {
  // A page can make a browser resolve its own name to this address; the name is still in the header.
  if (!isLoopback(`http://${headers.host ?? ""}`)) return refuse(403, "the host is none of this machine's names");
  if (headers.origin !== undefined && !isLoopback(headers.origin))
    return refuse(403, "pages of other origins stay out");
  if (!knows(headers, token)) {
    const help = "the token is missing or wrong: send it as `Authorization: Bearer TOKEN`";
    return { ...refuse(401, help), headers: { "www-authenticate": "Bearer" } };
  }
  if (url.split("?", 1)[0] !== path) return refuse(404, `there is only ${path} here`);
  if (!METHODS.includes(method)) {
    const help = "messages are sent with POST; there is no stream to listen to";
    return { ...refuse(405, help), headers: { allow: METHODS.join(", ") } };
  }
  // Forms of web pages can send other types without being asked.
  const isJson = /^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "");
  return method === "POST" && !isJson ? refuse(415, "messages are application/json") : null;
}

function isLoopback(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(address);
    return /^https?:$/.test(protocol) && LOOPBACK.has(hostname);
  } catch {
    return false;
  }
}

/** Hashed, so that neither the length nor the time of comparing tells anything. */
function knows({ authorization = "" }: IncomingHttpHeaders, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return token !== "" && timingSafeEqual(hash(given), hash(token));
}

function refuse(status: number, message: string): HttpAnswer {
  return { status, body: refusal("invalid", message) };
}
