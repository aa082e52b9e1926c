/** Answers that must be JSON of a given shape: the model is told, its answer is checked, and it is told once what was wrong. */

import { attempt, isObject } from "../errors.ts";
import { type Ask, type AskAnswer, addUsage, type Message, NO_USAGE, say, textOf, type Usage } from "./ask.ts";

/** Of JSON Schema what our own schemas use: type, properties, required, items, enum. */
export type Schema = Readonly<Record<string, unknown>>;

/** `isTold`: whether the provider passes the schema on by itself; if not, it is put into words. */
export function withSchema(ask: Ask, { isTold = false } = {}): Ask {
  return async (request) => {
    const { schema } = request;
    if (!schema) return ask(request);
    let messages = isTold ? request.messages : [...request.messages, say(inWords(schema))];
    let spent = NO_USAGE;
    for (let attempts = 1; ; attempts++) {
      const answer = await ask({ ...request, messages });
      if (!answer.ok || answer.stop === "refused") return charge(answer, spent);
      const text = textOf(answer.content);
      const value = withoutNulls(parseJson(text), schema);
      const problem = value === undefined ? "it is not JSON" : findMisfit(value, schema);
      if (problem === null)
        return charge({ ...answer, content: [{ type: "text", text: JSON.stringify(value) }] }, spent);
      spent = addUsage(spent, answer.usage);
      if (attempts > 1) return misfit(problem, text, spent);
      const said: Message = { role: "assistant", content: [{ type: "text", text: text || "(nothing)" }] };
      messages = [...messages, said, say(`That answer cannot be used: ${problem}. ${inWords(schema)}`)];
    }
  };
}

/** The answer with what was spent before it. */
function charge(answer: AskAnswer, spent: Usage): AskAnswer {
  if (answer.ok) return { ...answer, usage: addUsage(answer.usage, spent) };
  if (spent === NO_USAGE) return answer;
  const { text = "", usage = NO_USAGE } = answer.partial ?? {};
  return { ...answer, partial: { text, usage: addUsage(usage, spent) } };
}

function misfit(problem: string, text: string, usage: Usage): AskAnswer {
  const message = `the model did not answer in the form it was asked for, twice: ${problem}; try again, or name another model`;
  return { ok: false, error: { kind: "bad-answer", message, retriable: false }, partial: { text, usage } };
}

function inWords(schema: Schema): string {
  return `Answer with one JSON value and nothing else: no Markdown, no explanation. It must fit this JSON Schema: ${JSON.stringify(schema)}`;
}

/** Undefined when there is none. Models like to put a fence around it, or a sentence before it. */
function parseJson(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1];
  const inner = text.slice(text.search(/[[{]/), Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1);
  for (const part of [text, fenced ?? "", inner]) {
    const value = attempt<unknown, undefined>(() => JSON.parse(part), undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Where a value does not fit, in words that do not repeat it; null when it fits. */
export function findMisfit(value: unknown, schema: Schema, at = "the answer"): string | null {
  const { type, enum: allowed, properties = {}, required = [], items } = schema;
  const types = [type ?? []].flat() as string[];
  if (types.length > 0 && !types.some((each) => isOf(value, each))) return `${at} must be ${types.join(" or ")}`;
  if (Array.isArray(allowed) && !allowed.includes(value)) return `${at} must be one of ${allowed.join(", ")}`;
  if (Array.isArray(value))
    return items ? firstOf(value.map((item, i) => findMisfit(item, items as Schema, `${at}[${i}]`))) : null;
  if (!isOf(value, "object")) return null;
  const given = value as Record<string, unknown>;
  const missing = (required as string[]).find((name) => !Object.hasOwn(given, name));
  if (missing !== undefined) return `${at} has no "${missing}"`;
  const named = Object.entries(properties as Record<string, Schema>).filter(([name]) => Object.hasOwn(given, name));
  return firstOf(named.map(([name, each]) => findMisfit(given[name], each, `${at}.${name}`)));
}

function firstOf(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

function isOf(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return isObject(value);
  return typeof value === type;
}

/** As OpenAI's strict mode wants it: every property is required, and one that was not may be null. */
export function strictSchema(schema: Schema): Schema {
  const { type, properties, items, required = [] } = schema;
  if (items) return { ...schema, items: strictSchema(items as Schema) };
  if (!properties) return schema;
  const strict = Object.entries(properties as Record<string, Schema>).map(([name, each]) => {
    const inner = strictSchema(each);
    if ((required as string[]).includes(name)) return [name, inner];
    const allowed = Array.isArray(inner.enum) && { enum: [...inner.enum, null] };
    return [name, { ...inner, type: [...([inner.type] as unknown[]).flat(), "null"], ...allowed }];
  });
  const names = Object.keys(properties as object);
  return { ...schema, type, properties: Object.fromEntries(strict), required: names, additionalProperties: false };
}

/** Without the nulls that stand for a property that may be left out: `strictSchema` asks for them, and others write them, too. */
function withoutNulls(value: unknown, schema: Schema): unknown {
  const { properties = {}, required = [], items } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => withoutNulls(item, items as Schema)) : value;
  if (!isOf(value, "object")) return value;
  const known = properties as Record<string, Schema>;
  const kept = Object.entries(value as object).filter(
    ([name, each]) => each !== null || (required as string[]).includes(name),
  );
  return Object.fromEntries(kept.map(([name, each]) => [name, known[name] ? withoutNulls(each, known[name]) : each]));
}
