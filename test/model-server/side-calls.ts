/** What clients ask beside the conversation, which no test has to script: whether the server lives, how long a text is. */
import type { RecordedRequest } from "./reply.ts";

/** The body of the answer, null if this is no such call. */
export function sideAnswer({ method, path, raw }: RecordedRequest): object | null {
  if (method === "HEAD") return {};
  // About four characters to a token, as the real ones; nobody looks closer.
  const tokens = Math.ceil(raw.length / 4);
  if (path === "/v1/messages/count_tokens") return { input_tokens: tokens };
  if (path.endsWith(":countTokens")) return { totalTokens: tokens };
  return null;
}
