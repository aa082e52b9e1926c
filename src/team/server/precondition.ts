/** Preconditions of writes: which revision a change is based on, or that there must be none. */

import { type Answer, refuse } from "./answer.ts";

export type Precondition = { expected: string | null; refused?: undefined } | { refused: Answer };

/** One strong tag. Quotes and what is outside ASCII cannot be in one of ours. */
const STRONG = /^"([\x21\x23-\x7e]{1,200})"$/;
const HOW = 'send `If-Match: "REVISION"` for a change, or `If-None-Match: *` for a new memory';

export function readPrecondition(headers: Headers, { mayBeNew }: { mayBeNew: boolean }): Precondition {
  const match = headers.get("if-match");
  const noneMatch = headers.get("if-none-match");
  if (match === null && noneMatch === null) return no(428, "precondition", `a write needs a precondition: ${HOW}`);
  if (match !== null && noneMatch !== null)
    return no(400, "precondition", `two preconditions exclude each other: ${HOW}`);
  if (match === null) {
    if (!mayBeNew) return no(400, "precondition", 'only what is there can be removed: send `If-Match: "REVISION"`');
    return noneMatch === "*" ? { expected: null } : no(400, "precondition", `If-None-Match can only be *: ${HOW}`);
  }
  const revision = STRONG.exec(match)?.[1];
  if (revision === undefined) return no(400, "precondition", `If-Match must be one strong tag in quotes: ${HOW}`);
  return { expected: revision };
}

/** Whether a reader has this already; weak tags count, as what is compared is a listing. */
export function holdsTag(header: string | null, tag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}

function no(status: number, problem: string, message: string): Precondition {
  return { refused: refuse(status, problem, message) };
}
