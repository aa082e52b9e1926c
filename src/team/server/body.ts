/** Bodies of requests: read up to their limit and never further, strictly UTF-8. */

import { type Answer, refuse } from "./answer.ts";
import { refuseSize } from "./limits.ts";
import type { Asked } from "./route.ts";

export type Read<T> = { value: T; refused?: undefined } | { refused: Answer };

const MEDIA_TYPE = /^\s*([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset="?([a-z0-9-]+)"?\s*)?;?\s*$/i;

/** The text of a memory, byte for byte: a mark at its beginning stays. */
export async function readText({ headers, body }: Asked, maxBytes: number): Promise<Read<string>> {
  const wrongType = findTypeProblem(headers, ["text/markdown", "text/plain"]);
  if (wrongType) return { refused: wrongType };
  const bytes = await readBytes(body, maxBytes);
  if (bytes === null) return { refused: refuseSize("a memory", maxBytes) };
  const text = decode(bytes);
  if (text === null) return { refused: refuse(422, "form", "the memory is not valid UTF-8: save it as UTF-8 first") };
  if (text.includes("\0")) {
    return { refused: refuse(422, "form", "the memory holds a NUL character: it is no text; take it out") };
  }
  return { value: text };
}

/** A JSON object. What is in it is for the route to check. */
export async function readObject(
  { headers, body }: Asked,
  maxBytes: number,
): Promise<Read<Readonly<Record<string, unknown>>>> {
  const wrongType = findTypeProblem(headers, ["application/json"]);
  if (wrongType) return { refused: wrongType };
  const bytes = await readBytes(body, maxBytes);
  if (bytes === null) return { refused: refuseSize("a request", maxBytes) };
  try {
    const value: unknown = JSON.parse(decode(bytes) ?? "");
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
  } catch {
    // Said below, without quoting the body.
  }
  return { refused: refuse(400, "form", "the body is not a JSON object in UTF-8: see /openapi.json for its form") };
}

/** Null when there is more than `maxBytes`; the rest is not read. */
async function readBytes(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    bytes += value.length;
    if (bytes > maxBytes) {
      // Not waited for: a client that sends for ever would hold the answer up.
      reader.cancel().catch(() => {});
      return null;
    }
    chunks.push(value);
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Forms of web pages can send other types without being asked. */
function findTypeProblem(headers: Headers, types: readonly string[]): Answer | null {
  const [, type = "", charset = "utf-8"] = MEDIA_TYPE.exec(headers.get("content-type") ?? "") ?? [];
  if (types.includes(type.toLowerCase()) && /^utf-?8$/i.test(charset)) return null;
  return refuse(415, "type", `the body must be sent as \`Content-Type: ${types[0]}; charset=utf-8\``);
}
