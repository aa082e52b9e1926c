import { describe, expect, it } from "vitest";
import { type Ask, type AskRequest, NO_USAGE, textOf } from "../../src/model/ask.ts";
import { findMisfit, strictSchema, withSchema } from "../../src/model/schema.ts";

const NOTE = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["user", "project"] },
    when: { type: "array", items: { type: "string" } },
    file: { type: ["string", "null"] },
    count: { type: "integer" },
    isOld: { type: "boolean" },
  },
  required: ["kind", "file"],
};

describe("findMisfit", () => {
  it.each([
    [{ kind: "user", file: null }, null],
    [{ kind: "user", file: "a", when: ["b"], count: 2, isOld: false, more: {} }, null],
    [[], "the answer must be object"],
    [null, "the answer must be object"],
    [{ kind: "user" }, 'the answer has no "file"'],
    [{ kind: "team", file: "a" }, "the answer.kind must be one of user, project"],
    [{ kind: "user", file: 3 }, "the answer.file must be string or null"],
    [{ kind: "user", file: "a", when: ["b", 4] }, "the answer.when[1] must be string"],
    [{ kind: "user", file: "a", when: "b" }, "the answer.when must be array"],
    [{ kind: "user", file: "a", count: 1.5 }, "the answer.count must be integer"],
    [{ kind: "user", file: "a", isOld: "no" }, "the answer.isOld must be boolean"],
  ])("%j: %s", (value, problem) => expect(findMisfit(value, NOTE)).toBe(problem));

  it("does not mistake what every object inherits for an answer", () => {
    expect(findMisfit({}, { type: "object", required: ["toString"] })).toBe('the answer has no "toString"');
  });
});

it("a strict schema requires everything; what may be left out may be null, and what may be null stays so", () => {
  const strict = strictSchema({
    type: "object",
    properties: { notes: { type: "array", items: NOTE } },
    required: ["notes"],
  });
  const item = (strict.properties as { notes: { items: typeof NOTE } }).notes.items;
  expect(item).toMatchObject({ required: ["kind", "when", "file", "count", "isOld"], additionalProperties: false });
  expect(item.properties).toMatchObject({ count: { type: ["integer", "null"] }, file: { type: ["string", "null"] } });
});

describe("withSchema", () => {
  /** Answers with the texts, one after the other; what it was asked is kept. */
  function talk(...texts: string[]) {
    const asked: AskRequest[] = [];
    const ask: Ask = async (request) => {
      asked.push(request);
      const content = [{ type: "text" as const, text: texts[asked.length - 1] ?? "" }];
      return { ok: true, content, stop: "end", usage: { ...NO_USAGE, input: 10 } };
    };
    const said = () => asked.map(({ messages }) => textOf(messages.flatMap(({ content }) => [...content])));
    return { asked, said, ask: withSchema(ask) };
  }
  const request: AskRequest = { system: [], messages: [], maxTokens: 10, schema: NOTE };

  it("tells the schema, takes the value out of what is around it, and drops nulls that mean nothing", async () => {
    const { ask, said } = talk('Of course!\n```json\n{"kind":"user","file":null,"count":null}\n```\nAnything else?');
    const answer = await ask(request);
    expect(answer).toMatchObject({
      ok: true,
      content: [{ text: '{"kind":"user","file":null}' }],
      usage: { input: 10 },
    });
    expect(said()[0]).toContain('"enum":["user","project"]');
  });

  it("asks once more, with its own answer and the problem", async () => {
    const { ask, asked, said } = talk('{"kind":"team"}', '{"kind":"user","file":"a"}');
    expect(await ask(request)).toMatchObject({ ok: true, usage: { input: 20 } });
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(said()[1]).toContain('the answer has no "file"');
  });

  it("leaves a request without a schema alone", async () => {
    const { ask, asked } = talk("words");
    const { schema: _, ...plain } = request;
    expect(await ask(plain)).toMatchObject({ content: [{ text: "words" }] });
    expect(asked).toEqual([plain]);
  });
});
