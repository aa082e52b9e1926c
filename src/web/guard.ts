/** Who may speak to the page's server: a browser of this machine that was given the one-time address, and no other page it has open. */

import { createHash, timingSafeEqual } from "node:crypto";

export interface GuardWorld {
  port: number;
  now: () => Date;
  /** 256 bits that nobody can guess, safe in an address and in a cookie. */
  newSecret: () => string;
}

/** A request as the guard looks at it; nothing of the body is read before it is let in. */
export interface Knock {
  method: string;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
}

export type Admission =
  /** `session` tells one browser from another, and is not the cookie. */
  | { kind: "in"; session: string }
  /** The one-time address was opened: to the page, without the token. */
  | { kind: "exchange"; cookie: string | null }
  | { kind: "refused"; status: number; problem: string; message: string };

export interface Guard {
  /** A token for one address, once; an earlier one that was not used is void. */
  issueToken(): string;
  admit(knock: Knock): Admission;
}

/** Long enough to walk to another window, short enough to be worthless in a shell's history. */
const TOKEN_MS = 10 * 60 * 1000;
/** Browsers that one process lets in; the one that came first has to come again. */
const MAX_SESSIONS = 32;
const NAMES = ["127.0.0.1", "localhost", "[::1]"];
/** A memory is a few kilobytes; the largest that is read at all is smaller. */
export const MAX_BODY_BYTES = 1024 * 1024;

export const HOW_TO_COME_IN =
  "press Enter in the terminal where `memdir ui` runs and open the new address, or run `memdir ui` again";

export function openGuard(world: GuardWorld): Guard {
  let token: { hash: Buffer; until: number } | null = null;
  const sessions: Buffer[] = [];
  // Cookies know no ports: a second page on this machine must not take the place of the first one's.
  const cookieName = `memdir-${world.port}`;

  const spendToken = (given: string): boolean => {
    const isRight = token !== null && timingSafeEqual(hashOf(given), token.hash);
    if (!isRight || token === null) return false;
    const isFresh = world.now().getTime() < token.until;
    token = null;
    return isFresh;
  };
  const findSession = (headers: Headers): string | null => {
    const hash = hashOf(readCookie(headers, cookieName));
    return sessions.some((known) => timingSafeEqual(known, hash)) ? hash.toString("hex") : null;
  };
  const enter = (): string => {
    const secret = world.newSecret();
    sessions.push(hashOf(secret));
    if (sessions.length > MAX_SESSIONS) sessions.shift();
    return `${cookieName}=${secret}; Path=/; HttpOnly; SameSite=Strict`;
  };

  return {
    issueToken() {
      const secret = world.newSecret();
      token = { hash: hashOf(secret), until: world.now().getTime() + TOKEN_MS };
      return secret;
    },
    admit(knock) {
      const stranger = findStranger(knock.headers, world.port);
      if (stranger) return stranger;
      const session = findSession(knock.headers);
      const given = knock.query.get("token");
      if (knock.method === "GET" && knock.path === "/" && given !== null) {
        if (spendToken(given)) return { kind: "exchange", cookie: enter() };
        // Somebody who is in goes back in the browser's history.
        if (session !== null) return { kind: "exchange", cookie: null };
      }
      if (session === null) {
        const what = given === null ? "this browser is not known here" : "this address was used already or is too old";
        return refuse(401, "token", `${what}: ${HOW_TO_COME_IN}`);
      }
      return findFormProblem(knock) ?? { kind: "in", session };
    },
  };
}

/** What came by a false name or from another page. It learns nothing, not even whether its cookie is right. */
function findStranger(headers: Headers, port: number): Admission | null {
  const host = headers.get("host") ?? "";
  // A page can make a browser resolve its own name to this address; the name is still in the header.
  const isOurs = NAMES.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
  if (!isOurs) return refuse(403, "host", "this address is none of the page's own");
  const origin = headers.get("origin");
  if (origin !== null && origin !== `http://${host}`) return refuse(403, "origin", "pages of other origins stay out");
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") {
    return refuse(403, "origin", "another page led here: copy the address into the browser's address bar instead");
  }
  return null;
}

/** Whatever is no reading. Forms and links of other pages can send none of it without asking first, and nobody answers. */
function findFormProblem({ method, headers }: Knock): Admission | null {
  if (method === "GET" || method === "HEAD") return null;
  if (!["POST", "PUT", "DELETE"].includes(method)) return refuse(405, "method", "GET, POST, PUT and DELETE are known");
  if (headers.get("x-memdir") !== "1") return refuse(403, "header", "a write carries the header `X-Memdir: 1`");
  const length = headers.get("content-length");
  const isEmpty = (length === null || length === "0") && headers.get("transfer-encoding") === null;
  const isJson = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(headers.get("content-type") ?? "");
  if (!isJson && !(method === "DELETE" && isEmpty)) return refuse(415, "type", "a body is application/json");
  if (Number(length ?? 0) > MAX_BODY_BYTES) return refuse(413, "size", `a body has at most ${MAX_BODY_BYTES} bytes`);
  return null;
}

function readCookie(headers: Headers, name: string): string {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const [key, value = ""] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return "";
}

/** Hashed, so that neither the length nor the time of comparing tells anything. */
function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function refuse(status: number, problem: string, message: string): Extract<Admission, { kind: "refused" }> {
  return { kind: "refused", status, problem, message };
}
