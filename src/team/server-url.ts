/** Addresses of team servers: which may be spoken to, and how a server, a team and a repository are written as one. */

import { MemdirError } from "../errors.ts";

export interface Membership {
  /** Without a slash at its end. */
  server: string;
  team: string;
  repository: string;
}

/** What the server takes for the name of a team or repository; nothing in it means anything in a URL or a path. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$/;

/** "https://host/team/repository"; the server may lie below a path of its own. Throws `usage`. */
export function parseMembership(text: string): Membership {
  const server = parseServer(text);
  const parts = server.split("/");
  const [team, repository] = parts.splice(-2);
  // Three parts are the scheme, nothing and the host.
  if (parts.length < 3 || !team || !repository || !NAME.test(team) || !NAME.test(repository)) {
    throw new MemdirError(
      "usage",
      `${JSON.stringify(clip(text))} names no repository of a team: write https://HOST/TEAM/REPOSITORY, with names of letters, digits, dots and hyphens`,
    );
  }
  return { server: parts.join("/"), team, repository };
}

export function formatMembership({ server, team, repository }: Membership): string {
  return `${server}/${team}/${repository}`;
}

/** The address as it is used, without a slash at its end. Throws `usage` for one that memories may not be sent to. */
export function parseServer(text: string): string {
  const reason = findServerProblem(text);
  if (reason)
    throw new MemdirError("usage", `${JSON.stringify(clip(text))} cannot be used as a team server: ${reason}`);
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** Contents and tokens travel over TLS, or not beyond this machine. */
function findServerProblem(text: string): string | null {
  if (!URL.canParse(text)) return "it is no URL; write https://HOST/TEAM/REPOSITORY";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "only https is spoken";
  if (url.username !== "" || url.password !== "") return "a name or password does not belong into it; use a token";
  if (url.search !== "" || url.hash !== "") return "it must end after the path";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "memories travel over https; plain http is for this machine only (localhost, 127.0.0.1, [::1])";
  }
  return null;
}

/** The parser has brought every spelling of an address into one form. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** What is wrong may be long, and may hold a password. */
function clip(text: string): string {
  const shown = text.replace(/\/\/[^/@]*@/, "//…@");
  return shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
}
