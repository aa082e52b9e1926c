/**
 * Decides which requests reach the page's server: those of a browser on this machine that opened the one-time address,
 * and not of other pages in it.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { parse } from "hono/utils/cookie";
import type { World } from "../world.ts";

export type Guard = ReturnType<typeof openGuard>;

/** Long enough to switch to another window, short enough to be worthless in a shell's history. */
const TOKEN_MS = 10 * 60 * 1000;
/** How many browsers one process admits; after that the oldest needs a new address. */
const MAX_SESSIONS = 32;
const NAMES = ["127.0.0.1", "localhost", "[::1]"];
/** A memory is a few kilobytes, and the largest that can be read is smaller than this. */
export const MAX_BODY_BYTES = 1024 * 1024;

const HOW_TO_OPEN =
  "press Enter in the terminal where `memdir ui` runs and open the new address, or run `memdir ui` again";

/** `newSecret`: 256 random bits, safe in an address and in a cookie. */
export function openGuard(port: number, { now }: Pick<World, "now">, newSecret: () => string) {
  let token: { hash: Buffer; until: number } | null = null;
  const sessions: Buffer[] = [];
  // Cookies ignore ports: a second page on this machine must not replace the cookie of the first.
  const cookieName = `memdir-${port}`;

  const spendToken = (given: string): boolean => {
    if (token === null || !timingSafeEqual(hashOf(given), token.hash)) return false;
    const isFresh = now().getTime() < token.until;
    token = null;
    return isFresh;
  };
  const findSession = (headers: Headers): string | null => {
    const hash = hashOf(parse(headers.get("cookie") ?? "", cookieName)[cookieName] ?? "");
    return sessions.some((known) => timingSafeEqual(known, hash)) ? hash.toString("hex") : null;
  };
  const enter = (): string => {
    const secret = newSecret();
    sessions.push(hashOf(secret));
    if (sessions.length > MAX_SESSIONS) sessions.shift();
    return `${cookieName}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  };

  return {
    /** A token for one address, usable once; it invalidates an earlier one that was not used. */
    issueToken(): string {
      const secret = newSecret();
      token = { hash: hashOf(secret), until: now().getTime() + TOKEN_MS };
      return secret;
    },
    /** What identifies the browser, and is not the cookie; or the response for a browser that is not admitted. The body is not read before that. */
    admit({ method, url, headers }: Request): string | Response {
      const stranger = findStranger(headers, port);
      if (stranger) return stranger;
      const session = findSession(headers);
      const { pathname, searchParams } = new URL(url);
      const given = searchParams.get("token");
      if (method === "GET" && pathname === "/" && given !== null) {
        if (spendToken(given)) return toPage({ "set-cookie": enter() });
        // A browser that was admitted went back in its history.
        if (session !== null) return toPage({});
      }
      if (session !== null) return findFormProblem(method, headers) ?? session;
      const what = given === null ? "this browser has no access" : "this address has expired or was already used";
      if (pathname.startsWith("/api/")) return refuse(401, "token", `${what}: ${HOW_TO_OPEN}`);
      return new Response(ENTRY_PAGE, {
        status: 401,
        headers: { ...CLOSE, "content-type": "text/html; charset=utf-8" },
      });
    },
  };
}

/** A request with a wrong host name or from another page. It learns nothing, not even whether its cookie is valid. */
function findStranger(headers: Headers, port: number): Response | null {
  const host = headers.get("host") ?? "";
  // A page can make a browser resolve its own name to this address; the name is still in the header.
  const isOurs = NAMES.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
  if (!isOurs) return refuse(403, "host", "the Host header is not an address of this page");
  const origin = headers.get("origin");
  if (origin !== null && origin !== `http://${host}`)
    return refuse(403, "origin", "requests from other origins are refused");
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") {
    return refuse(403, "origin", "another page linked here; paste the address into the browser's address bar instead");
  }
  return null;
}

/**
 * For every request except reads. Forms and links of other pages cannot send this without a preflight request, which is
 * refused.
 */
function findFormProblem(method: string, headers: Headers): Response | null {
  if (method === "GET" || method === "HEAD") return null;
  if (!["POST", "PUT", "DELETE"].includes(method)) return refuse(405, "method", "use GET, POST, PUT or DELETE");
  if (headers.get("x-memdir") !== "1") return refuse(403, "header", "a write must have the header `X-Memdir: 1`");
  const length = headers.get("content-length");
  const isEmpty = (length === null || length === "0") && headers.get("transfer-encoding") === null;
  const isJson = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(headers.get("content-type") ?? "");
  if (!isJson && !(method === "DELETE" && isEmpty)) return refuse(415, "type", "a body must be application/json");
  if (Number(length ?? 0) > MAX_BODY_BYTES)
    return refuse(413, "size", `a body must not exceed ${MAX_BODY_BYTES} bytes`);
  return null;
}

/** Hashed, so that neither the length nor the time of a comparison reveals anything. */
function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The unread rest of a refused request could be taken for the next one. */
const CLOSE = { connection: "close" };

function refuse(status: number, problem: string, message: string): Response {
  return Response.json({ problem, message }, { status, headers: CLOSE });
}

/** The token leaves the address bar and the browser's history. */
function toPage(cookie: Record<string, string>): Response {
  return new Response(null, { status: 303, headers: { location: "/", "referrer-policy": "no-referrer", ...cookie } });
}

const ENTRY_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>memdir: a new address is needed</title>
<h1>This page needs a new address</h1>
<p>The address has expired, was already used, or belongs to a page that has been closed.</p>
<p>To open the page, ${HOW_TO_OPEN.replace(/`([^`]+)`/g, "<code>$1</code>")}.</p>
</html>
`;
