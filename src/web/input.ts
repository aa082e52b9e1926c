/** What the browser sends, checked by hand: everything else is a wrong call and said so. */

import { MemdirError } from "../errors.ts";
import type { Ref } from "./api.ts";

/** A memory is a page; a file of megabytes is edited elsewhere. */
const MAX_TEXT = 4 << 20;
const MAX_NAME = 1_000;

export function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new MemdirError("usage", "the request must be a JSON object");
}

export function textOf(from: Record<string, unknown>, key: string, maxChars = MAX_TEXT): string {
  const value = from[key];
  if (typeof value !== "string") throw new MemdirError("usage", `"${key}" must be a text`);
  if (value.length > maxChars) throw new MemdirError("usage", `"${key}" has more than ${maxChars} characters`);
  // A lone surrogate has no bytes: it would be written as something else.
  if (!value.isWellFormed()) throw new MemdirError("usage", `"${key}" holds half a character: take it out`);
  return value;
}

export function nameOf(from: Record<string, unknown>, key: string): string {
  const name = textOf(from, key, MAX_NAME);
  if (name.trim() === "") throw new MemdirError("usage", `"${key}" must not be empty`);
  return name;
}

export function optionalText(from: Record<string, unknown>, key: string, maxChars?: number): string | undefined {
  return from[key] === undefined || from[key] === null ? undefined : textOf(from, key, maxChars);
}

export function textsOf(from: Record<string, unknown>, key: string): string[] | undefined {
  const value = from[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length > MAX_NAME)
    throw new MemdirError("usage", `"${key}" must be a list of texts`);
  return value.map((_, at) => textOf({ [key]: value[at] }, key, MAX_NAME));
}

/** `directory` as a number, or its digits. */
export function refOf(from: Record<string, unknown>): Ref {
  const { directory } = from;
  const number = typeof directory === "string" && /^\d{1,4}$/.test(directory) ? Number(directory) : directory;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) {
    throw new MemdirError("usage", '"directory" must be the number of a directory');
  }
  return { directory: number, file: nameOf(from, "file") };
}

/** The parameters of an address; the first of several counts. */
export function queryOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].reverse());
}

export function countOf(from: Record<string, unknown>, key: string, otherwise: number, most: number): number {
  const value = from[key];
  if (value === undefined || value === "") return otherwise;
  if (typeof value !== "string" || !/^\d{1,6}$/.test(value)) {
    throw new MemdirError("usage", `"${key}" must be a whole number`);
  }
  return Math.min(most, Number(value));
}
