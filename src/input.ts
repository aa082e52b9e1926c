/** What an input is: one value checks what was given, words the help, and makes the JSON Schema that models read. */

import * as v from "valibot";
import { isObject, MemdirError } from "./errors.ts";
import { isDay } from "./text/local-day.ts";

export type Adapter = "cli" | "console" | "mcp" | "web" | "library";

export interface Field<S extends v.GenericSchema = v.GenericSchema> {
  schema: S;
  /** What of it JSON Schema can say. */
  json: Readonly<Record<string, unknown>>;
  help: string;
  /** The word for its value in the help; none for a switch. */
  value?: string;
  short?: string;
  isList?: boolean;
  required?: boolean;
  /** Only the named adapters take it. */
  only?: readonly Adapter[];
}

export type Fields = Readonly<Record<string, Field>>;

type Needed<F extends Fields> = { [K in keyof F]: F[K] extends { required: true } ? K : never }[keyof F];

export type Input<F extends Fields> = { [K in Needed<F>]: v.InferOutput<F[K]["schema"]> } & {
  [K in Exclude<keyof F, Needed<F>>]?: v.InferOutput<F[K]["schema"]> | undefined;
};

export function text(help = "", value = "TEXT", more: { short?: string; only?: readonly Adapter[] } = {}) {
  return { schema: textSchema("must be a string"), json: { type: "string" }, help, value, ...more };
}

export function list(help = "", value = "TEXT") {
  const words = "must be a list of strings";
  const schema = v.pipe(v.array(textSchema(words), words), v.maxLength(1000, "has more than 1000 entries"));
  return { schema, json: { type: "array", items: { type: "string" } }, help, value, isList: true };
}

/** A day, with or without a time. */
export function date(help = "", value = "DATE") {
  const example = `must be a date such as ${/\d{4}-\d\d-\d\d/.exec(help)?.[0] ?? "2026-03-01"}`;
  return checked(text(help, value), isDay, ({ input }) => `${example}, not ${JSON.stringify(input.slice(0, 40))}`);
}

export function flag(help = "", more: { short?: string; only?: readonly Adapter[] } = {}) {
  return { schema: v.boolean("must be true or false"), json: { type: "boolean" }, help, ...more };
}

/** Larger ones are mistakes, and as days or milliseconds no date. */
const MAX_NUMBER = 999_999_999;

export function number(help = "", { min = 0, max = MAX_NUMBER, value = "N" } = {}) {
  const range = max < MAX_NUMBER ? ` from ${min} to ${max}` : min > 0 ? `, ${min} or more` : "";
  const words = `must be a whole number${range}`;
  const schema = v.pipe(v.number(words), v.integer(words), v.minValue(min, words), v.maxValue(max, words));
  const json = { type: "integer", minimum: min, ...(max < MAX_NUMBER && { maximum: max }) };
  return { schema, json, help, value };
}

export function choice<const T extends readonly string[]>(options: T, help = "", value = "WORD") {
  const schema = v.picklist(options, `must be one of ${options.join(", ")}`);
  return { schema, json: { type: "string", enum: options }, help, value };
}

/** Several inputs under one name. */
export function group<const F extends Fields>(fields: F, help = "") {
  const schema = v.pipe(
    v.record(v.string(), v.unknown(), "must be an object"),
    v.transform((given) => readInput(fields, given)),
  );
  return { schema, json: buildSchema(fields), help };
}

export function required<F extends Field>(field: F): F & { required: true } {
  return { ...field, required: true };
}

export function filled<F extends Field<v.GenericSchema<string>>>(field: F): F {
  return checked(field, (given) => given.trim() !== "", "is empty");
}

/** `words` follow the input's name: `must be a time`. */
export function checked<F extends Field<v.GenericSchema<string>>>(
  field: F,
  test: (given: string) => boolean,
  words: string | ((issue: { input: string }) => string),
): F {
  return { ...field, schema: v.pipe(field.schema, v.check(test, words)) };
}

/**
 * Throws `usage` with everything that does not fit, named as the adapter's user knows it. Numbers and switches may come as text,
 * as in an address, and a single text for a list, as models send it.
 */
export function readInput<F extends Fields>(
  fields: F,
  given: Readonly<Record<string, unknown>>,
  nameOf: (field: string) => string = (field) => `"${field}"`,
): Input<F> {
  const known = Object.keys(fields).join(", ");
  if (!isObject(given))
    throw new MemdirError(
      "usage",
      `the input must be an object${known === "" ? "" : `, such as { ${Object.keys(fields)[0]}: … }`}`,
    );
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name))
    .map(
      (name) =>
        `there is no input ${nameOf(name.slice(0, 80))} (${known === "" ? "it takes none" : `there are: ${known}`})`,
    );
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined;
    if (value === undefined) {
      if (field.required) problems.push(`${nameOf(name)} is missing`);
      continue;
    }
    const { success, output, issues } = v.safeParse(field.schema, meantBy(field, value));
    if (success) input[name] = output;
    else problems.push(`${nameOf(name)} ${issues[0].message}${quote(field, value)}`);
  }
  if (problems.length > 0) throw new MemdirError("usage", problems.join("; "));
  return input as Input<F>;
}

function meantBy({ json: { type } }: Field, value: unknown): unknown {
  if (type === "integer" && typeof value === "string" && /^-?\d{1,9}$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (type === "array" && !Array.isArray(value)) return [value];
  return value;
}

/** A wrong word among few that are right is quoted; a wrong text is not. */
function quote({ json }: Field, value: unknown): string {
  const isShort = json.enum !== undefined || json.type === "integer" || json.type === "boolean";
  return isShort && typeof value === "string" ? `, not ${JSON.stringify(value.slice(0, 100))}` : "";
}

/** By hand: the package that does this for any schema takes 2 ms to load, and knows nothing of checks. */
export function buildSchema(fields: Fields, words: Readonly<Record<string, string>> = {}): Record<string, unknown> {
  const properties = Object.entries(fields).map(([name, { json, help }]) => [
    name,
    { ...json, description: words[name] ?? help },
  ]);
  const needed = Object.keys(fields).filter((name) => fields[name]?.required);
  return { type: "object", properties: Object.fromEntries(properties), required: needed, additionalProperties: false };
}

function textSchema(words: string) {
  return v.pipe(
    v.string(words),
    v.check((given) => given.isWellFormed(), "contains a lone surrogate, half a character; remove it"),
  );
}
