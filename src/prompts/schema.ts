/** JSON Schemas of answers: every field is required and no other allowed, as some providers accept nothing else. */

export type Schema = Record<string, unknown>;

export const TEXT: Schema = { type: "string" };
export const TEXT_OR_NULL: Schema = { type: ["string", "null"] };
export const TEXTS_OR_NULL: Schema = { type: ["array", "null"], items: TEXT };

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function objectOf(properties: Record<string, Schema>): Schema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
