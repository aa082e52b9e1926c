/** The OpenAPI description of the server, made from the routes themselves and the schemas of the protocol. */

import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import type * as v from "valibot";
import * as protocol from "../protocol.ts";
import type { Access, Route, ServerLimits } from "./route.ts";

type Json = Record<string, unknown>;

export function makeOpenApi(
  routes: readonly Route[],
  { version, limits }: { version: string; limits: ServerLimits },
): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = describedPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "memdir team server",
      version: version || "0",
      description: [
        "Memory that a team of people and agents shares: lists of hashes first, then only what differs. `{path}` may hold slashes; each part of it is percent-encoded.",
        `Every request below /v1 names the protocol (\`Memdir-Protocol: ${protocol.PROTOCOL}\`) and a token; what a token may not see is not there (404).`,
        `A body has at most ${limits.memory.requestBytes} bytes and is not compressed, a memory at most ${limits.memory.memoryBytes}.`,
        `A token has ${limits.rate.requests} requests in ${limits.rate.seconds} seconds; then the answer is 429 and says how long to wait.`,
        "A list that has not changed is 304 without a body. A write needs a precondition (428), and is 412 with the current version where another one was faster.",
        "Otherwise: 400 for the form, 401 the token, 403 the role, 409 what exists already or the last admin, 413 the size, 415 the type, 422 what cannot be shared; 503 where the database or the identity provider is not answering.",
      ].join("\n"),
    },
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: toJsonSchemaDefs(SCHEMAS, FORM),
    },
  };
}

/** As OpenAPI writes a pattern: `{path}` may hold slashes here, which it cannot express. */
export function describedPath(path: string): string {
  return path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}");
}

/** Everything that the protocol names as a value of its own. */
const SCHEMAS = Object.fromEntries(
  Object.entries(protocol).filter(([name]) => /^[A-Z][a-z]/.test(name) && name !== "Markdown"),
) as Record<string, v.GenericSchema>;

const FORM: ConversionConfig = {
  target: "draft-2020-12",
  typeMode: "input",
  // Checks that are code have no JSON schema; their words are in the answers.
  errorMode: "ignore",
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

function formOf(schema: v.GenericSchema): object {
  const name = Object.keys(SCHEMAS).find((key) => SCHEMAS[key] === schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const { $schema: _, ...form } = toJsonSchema(schema, FORM);
  return form;
}

function describeRoute(route: Route): Json {
  const { path, method, access, summary, body } = route;
  const type = body === protocol.Markdown ? "text/markdown" : "application/json";
  return {
    operationId: operationId(method, path),
    summary,
    description: whoMay(access),
    security: access.to === "open" ? [] : [{ token: [] }],
    parameters: describeParameters(route),
    ...(body && { requestBody: { required: true, content: { [type]: { schema: formOf(body) } } } }),
    responses: describeAnswers(route),
  };
}

function describeParameters({ method, path, access, query, headers = {} }: Route): Json[] {
  const parameter = (place: string, name: string, required: boolean, description: unknown, schema: Json) => {
    return { name, in: place, required, description, schema };
  };
  const text = { type: "string" };
  const version = parameter("header", "Memdir-Protocol", true, undefined, { const: protocol.PROTOCOL });
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => parameter("path", name, true, undefined, text)),
    ...(access.to === "open" ? [] : [version]),
    ...Object.entries(query?.entries ?? {}).map(([name, schema]) => {
      const { description, ...form } = formOf(schema as v.GenericSchema) as Json;
      return parameter("query", name, schema.type !== "optional", description, form);
    }),
    // Only a removal cannot do without its header.
    ...Object.entries(headers).map(([name, about]) => parameter("header", name, method === "DELETE", about, text)),
  ];
}

/** The usual answer. All others have one form, and say in words what is wrong. */
function describeAnswers({ reply: [status, text, form] }: Route): Json {
  const content = typeof form === "string" ? { [form]: {} } : { "application/json": { schema: formOf(form) } };
  const anyOf = [protocol.ProblemAnswer, protocol.StaleAnswer].map((schema) => formOf(schema));
  const refused = {
    description: "What is wrong and how to fix it.",
    content: { "application/json": { schema: { anyOf } } },
  };
  return { [status]: { description: text, content }, default: refused };
}

function whoMay(access: Access): string {
  if (access.to === "open") return "Open to every client that reaches the server.";
  if (access.to === "member") return "For every member of the team.";
  return `For the role ${access.role} or a stronger one in the ${access.to}.`;
}

function operationId(method: string, path: string): string {
  const words = path.replace(/\{[^}]*\}/g, "").match(/\w+/g) ?? [];
  return [method.toLowerCase(), ...words.filter((word) => word !== "v1")].join("-");
}
