/** A tool's input: one description of it makes the JSON Schema for the model and checks what the model sends. */

import type { Tool, ToolOutcome } from "../model/tool.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import type { ToolName } from "./workbench.ts";

interface Field {
  /** `texts` is a list of strings; a single one is taken as a list of one, as models send it so. */
  type: "string" | "integer" | "boolean" | "texts";
  required?: true;
  values?: readonly string[];
  minimum?: number;
  /** An empty text counts as missing. */
  filled?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F extends Field> = { string: string; integer: number; boolean: boolean; texts: string[] }[F["type"]];

export type Input<F extends Fields> = {
  [K in keyof F]: F[K] extends { required: true } ? ValueOf<F[K]> : ValueOf<F[K]> | undefined;
};

/** A tool whose input is checked before it runs; its description is found by its name. */
export function defineTool<const F extends Fields>(
  name: ToolName,
  fields: F,
  run: (input: Input<F>, signal: AbortSignal) => Promise<ToolOutcome>,
): Tool {
  const { description, inputs } = TOOL_WORDS[name];
  return {
    name,
    description,
    schema: buildSchema(fields, inputs),
    run: async (input, { signal }) => run(readInput(fields, input), signal),
  };
}

export function buildSchema(fields: Fields, words: Readonly<Record<string, string>>): Record<string, unknown> {
  const properties = Object.entries(fields).map(([name, { type, values, minimum }]) => [
    name,
    {
      ...(type === "texts" ? { type: "array", items: { type: "string" } } : { type }),
      description: words[name] ?? "",
      ...(values && { enum: values }),
      ...(minimum !== undefined && { minimum }),
    },
  ]);
  const required = Object.keys(fields).filter((name) => fields[name]?.required);
  return { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Throws a message that names everything that is wrong. Numbers and booleans sent as text are accepted. */
export function readInput<const F extends Fields>(fields: F, input: Readonly<Record<string, unknown>>): Input<F> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(input)) {
    if (!Object.hasOwn(fields, name)) {
      problems.push(`there is no input "${name}" (there are: ${Object.keys(fields).join(", ")})`);
    }
  }
  for (const [name, field] of Object.entries(fields)) {
    const given = Object.hasOwn(input, name) ? (input[name] ?? undefined) : undefined;
    const value = meant(field, given);
    const problem = findProblem(field, value);
    if (problem) problems.push(`"${name}" ${problem}`);
    else values[name] = value;
  }
  if (problems.length > 0) throw new Error(`wrong input: ${problems.join("; ")}`);
  return values as Input<F>;
}

function meant({ type }: Field, value: unknown): unknown {
  if (type === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (type === "texts" && value !== undefined && !Array.isArray(value)) return [value];
  return value;
}

function findProblem({ type, required, values, minimum, filled }: Field, value: unknown): string | null {
  if (value === undefined) return required ? "is missing" : null;
  if (type === "texts") {
    const areTexts = (value as unknown[]).every((each) => typeof each === "string" && each.isWellFormed());
    return areTexts ? null : "must be a list of texts";
  }
  if (type === "integer" ? !Number.isSafeInteger(value) : typeof value !== type) {
    return `must be ${type === "integer" ? "a whole number" : type === "string" ? "a text" : "true or false"}`;
  }
  if (typeof value === "string") {
    if (filled && value.trim() === "") return "is empty";
    // Half a surrogate pair cannot be written to a file or passed to a program.
    if (!value.isWellFormed()) return "contains half a surrogate pair, which is not valid text";
    if (values && !values.includes(value)) return `must be one of ${values.join(", ")}`;
  }
  if (typeof value === "number" && minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  return null;
}
