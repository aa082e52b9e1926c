/** The folder names that stand for a project's path, one function per known keying. */

import { sha256 } from "../text/hash.ts";

/** Claude Code's limit before it cuts and appends a hash. */
const MAX_SLUG_CHARS = 200;

/** Claude Code's own rule, byte for byte, so that both find the same folder. The path is not normalised: nor does it. */
export function slugOf(path: string): string {
  const slug = path.replace(/[^a-zA-Z0-9]/g, "-");
  return slug.length <= MAX_SLUG_CHARS ? slug : `${slug.slice(0, MAX_SLUG_CHARS)}-${hash36(path)}`;
}

/** code-assist's rule: only the separators are replaced. */
export function separatorSlug(path: string): string {
  return path.replace(/[/\\]/g, "-");
}

/** mini-claude's rule: the first 16 hex digits of the path's sha256. */
export function sha256Key(path: string): string {
  return sha256(path).slice(0, 16);
}

/** The 32-bit hash of Java's strings, over UTF-16 units. */
function hash36(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(31, hash) + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}
