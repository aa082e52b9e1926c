/** What a request carries: its body, read up to its limit and never further, and its precondition. */

import { parseObject, readBody } from "../http.ts";
import { type Asked, refuse, refuseSize } from "./route.ts";

const MEDIA_TYPE = /^\s*([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset="?([a-z0-9-]+)"?\s*)?;?\s*$/i;

/** The text of a memory, byte for byte: a mark at its beginning stays. */
export async function readText(asked: Asked, maxBytes: number): Promise<string> {
  const text = decode(await readBytes(asked, "a memory", ["text/markdown", "text/plain"], maxBytes));
  if (text === null) throw refuse(422, "form", "the memory is not valid UTF-8: save it as UTF-8 first");
  if (text.includes("\0")) throw refuse(422, "form", "the memory holds a NUL character, so it is not text; remove it");
  return text;
}

/** A JSON object. What is in it is for the route to check. */
export async function readObject(asked: Asked, maxBytes: number): Promise<Readonly<Record<string, unknown>>> {
  const text = decode(await readBytes(asked, "a request", ["application/json"], maxBytes));
  const value = parseObject(text ?? "");
  // Without quoting the body.
  if (!value) throw refuse(400, "form", "the body is not a JSON object in UTF-8: see /openapi.json for its form");
  return value;
}

async function readBytes(
  { headers, body }: Asked,
  what: string,
  types: readonly string[],
  maxBytes: number,
): Promise<Uint8Array> {
  const [, type = "", charset = "utf-8"] = MEDIA_TYPE.exec(headers.get("content-type") ?? "") ?? [];
  // Forms of web pages can send other types without being asked.
  if (!types.includes(type.toLowerCase()) || !/^utf-?8$/i.test(charset))
    throw refuse(415, "type", `the body must be sent as \`Content-Type: ${types[0]}; charset=utf-8\``);
  const bytes = await readBody(body, maxBytes);
  if (bytes === null) throw refuseSize(what, maxBytes);
  return bytes;
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** One strong tag. Quotes and what is outside ASCII cannot be in one of ours. */
const STRONG = /^"([\x21\x23-\x7e]{1,200})"$/;
const HOW = 'send `If-Match: "REVISION"` for a change, or `If-None-Match: *` for a new memory';

/** The revision that a write is based on; null: there must be no such memory, where it `mayBeNew`. */
export function readPrecondition(headers: Headers, { mayBeNew }: { mayBeNew: boolean }): string | null {
  const match = headers.get("if-match");
  const noneMatch = headers.get("if-none-match");
  const no = (message: string, status = 400) => refuse(status, "precondition", message);
  if (match === null && noneMatch === null) throw no(`a write needs a precondition: ${HOW}`, 428);
  if (match !== null && noneMatch !== null) throw no(`two preconditions exclude each other: ${HOW}`);
  if (match === null) {
    if (!mayBeNew) throw no('only what is there can be removed: send `If-Match: "REVISION"`');
    if (noneMatch !== "*") throw no(`If-None-Match can only be *: ${HOW}`);
    return null;
  }
  const revision = STRONG.exec(match)?.[1];
  if (revision === undefined) throw no(`If-Match must be one strong tag in quotes: ${HOW}`);
  return revision;
}

/** Whether a reader has this already; weak tags count, as what is compared is a listing. */
export function holdsTag(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
