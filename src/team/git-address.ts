/** The remote that memories travel through: which ones are taken, and how it is named without its credentials. */

import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt, MemdirError } from "../errors.ts";
import { cleanRemote } from "../project/owner.ts";
import { isLoopback } from "./membership.ts";

export type GitAddress = ReturnType<typeof parseGitAddress>;

/**
 * `url` is as git gets it and may hold credentials, `name` is for people and for ids, `protocols` are those that git may use
 * (GIT_ALLOW_PROTOCOL), and `mask` makes a text of git's one that may be shown: one line, short, without credentials.
 * `cwd`: what a relative path starts from. Throws `usage` for what could run a program, be taken for an option or be read on the way.
 */
export function parseGitAddress(text: string, cwd?: string) {
  const refuse = (why: string) => new MemdirError("usage", `the git remote ${JSON.stringify(mask(text, text))} ${why}`);
  if (text.trim() === "") throw new MemdirError("usage", "the git remote is empty: name a URL, host:path or a folder");
  if (text.startsWith("-")) throw refuse("begins with a dash: name a URL, host:path or a folder");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) throw refuse("holds control characters");
  if (/^[a-z0-9+.-]*::/i.test(text)) throw refuse("names a remote helper: only https, ssh and folders are used");
  const protocols = protocolsOf(text);
  if (protocols === "unknown") throw refuse("is of a kind that is not supported: use https, ssh or a folder");
  if (protocols === "open")
    throw refuse("would send memories unencrypted: use https or ssh (http only to this machine)");
  if (protocols === "ssh" && /^(ssh:\/\/)?([^/]*@)?-/i.test(text)) throw refuse("has a host that begins with a dash");
  const url = protocols === "file" ? folderOf(text, cwd, refuse) : text;
  return { url, name: cleanRemote(url), protocols, mask: (said: string) => mask(said, text) };
}

/** Why git would not take it as a branch, or null. Stricter than git: what is odd here is a mistake. */
export function findBranchProblem(branch: string): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(branch)) return "it may hold letters, digits, `.`, `_`, `-` and `/`";
  if (/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(branch)) return "git does not accept such branch names";
  if (branch.length > 100) return "it is too long";
  return null;
}

function protocolsOf(text: string): "https" | "ssh" | "file" | "http" | "git" | "open" | "unknown" {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "https" || scheme === "ssh" || scheme === "file") return scheme;
  if (scheme === "git+ssh" || scheme === "ssh+git") return "ssh";
  if (scheme === "http" || scheme === "git") return isLocal(text) ? scheme : "open";
  if (scheme !== undefined) return "unknown";
  if (/^[A-Za-z]:[\\/]/.test(text)) return "file";
  // As git distinguishes them: a colon before the first slash is a host's.
  return /^[^/\\]*:/.test(text) ? "ssh" : "file";
}

function isLocal(url: string): boolean {
  const host = /^[a-z]+:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/:?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return isLoopback(host);
}

function folderOf(text: string, cwd: string | undefined, refuse: (why: string) => MemdirError): string {
  if (/^file:\/\//i.test(text)) {
    try {
      return fileURLToPath(text);
    } catch {
      throw refuse("is not a folder on this machine");
    }
  }
  if (isAbsolute(text)) return text;
  if (cwd === undefined) throw refuse("is a relative path: give the absolute one");
  return resolve(cwd, text);
}

/** More does not help: git's reason is in its first words. */
const MAX_SHOWN_CHARS = 300;

function mask(said: string, remote: string): string {
  let shown = said;
  for (const secret of credentialsOf(remote)) shown = shown.replaceAll(secret, "***");
  return (
    shown
      .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/'"]*@/gi, "$1")
      .replace(/([?&](?:[\w-]*token|access|auth|key|password|secret)[\w-]*=)[^\s&'"]+/gi, "$1***")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a remote must not steer the terminal
      .replace(/[\x00-\x1f\x7f-\x9f]+/g, " ")
      .trim()
      .slice(0, MAX_SHOWN_CHARS)
  );
}

/** User and password as they are in the URL, together and apart, also decoded; the longest first. */
function credentialsOf(remote: string): string[] {
  const info = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(remote)?.[1];
  const query = /^[a-z][a-z0-9+.-]*:\/\/[^?#]*\?([^#]*)/i.exec(remote)?.[1];
  const password = info?.includes(":") ? info.slice(info.indexOf(":") + 1) : undefined;
  // A user without a password may be a token; a short one is a name, and words hold it.
  const user = info?.split(":")[0] ?? "";
  const isShort = password === undefined && user.length < 12;
  const parts = isShort ? [query] : [info, password, user.length >= 12 ? user : undefined, query];
  const known = parts.filter((part) => part !== undefined && part.length > 0) as string[];
  return [...new Set(known.flatMap((part) => [part, attempt(() => decodeURIComponent(part), part)]))].sort(
    (a, b) => b.length - a.length,
  );
}
