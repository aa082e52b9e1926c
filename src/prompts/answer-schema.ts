/** JSON Schemas of answers. */

export type Schema = Record<string, unknown>;

export const TEXT: Schema = { type: "string" };
export const TEXT_OR_NULL: Schema = { type: ["string", "null"] };
export const TEXTS_OR_NULL: Schema = { type: ["array", "null"], items: TEXT };

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

/** No other fields are allowed, and all are required but those that start with a question mark. */
export function objectOf(fields: Record<string, Schema>): Schema {
  const bare = (name: string) => name.replace(/^\?/, "");
  const properties = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [bare(name), schema]));
  const required = Object.keys(fields).filter((name) => !name.startsWith("?"));
  return { type: "object", properties, required, additionalProperties: false };
}
