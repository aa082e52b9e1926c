/** Changes in JSON texts: what is not ours keeps every byte. */

import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { commandsOf, kindOf, type Part } from "../../src/wiring/parts.ts";
import { HOOK, SERVER } from "./machine.ts";

const VALUE: Part = { kind: "value", file: "f.json", why: "", at: ["mcpServers", "memdir"], value: SERVER };
const HOOKS: Part = {
  kind: "hooks",
  file: "f.json",
  why: "",
  hooks: {
    Stop: { type: "command", command: HOOK, timeout: 5 },
    PreToolUse: { type: "command", command: HOOK, timeout: 5 },
  },
};
const known = commandsOf([HOOKS]);

function add(text: string | null, ...parts: Part[]): { text: string; made: Set<string> } {
  const made = new Set<string>();
  const after = parts.reduce<string | null>((now, part) => kindOf(part).add(now, part, known, made), text);
  return { text: after as string, made };
}

function remove(text: string, made: ReadonlySet<string> | null, ...parts: Part[]): string {
  return parts.reduce<string>((now, part) => kindOf(part).remove(now, part, known, made) as string, text);
}

describe("a value", () => {
  test("a new file, an empty one, and an empty object", () => {
    const wanted = `{
  "mcpServers": {
    "memdir": {
      "command": "/usr/bin/node",
      "args": [
        "/opt/memdir/dist/cli.js",
        "mcp"
      ]
    }
  }
}
`;
    expect(add(null, VALUE).text).toBe(wanted);
    expect(add("", VALUE).text).toBe(wanted);
    expect(add(" \n", VALUE).text).toBe(wanted);
    expect(add("{}\n", VALUE).text).toBe(wanted);
    expect(add("{ }", VALUE).text).toBe(wanted.trimEnd());
  });

  test("comments, order, tabs, CRLF and a missing final newline stay", () => {
    const text = '{\r\n\t// first\r\n\t"b": 1, /* why */\r\n\t"a": [1,2] // last\r\n\t// below\r\n}';
    const { text: after } = add(text, VALUE);
    expect(
      after.startsWith('{\r\n\t// first\r\n\t"b": 1, /* why */\r\n\t"a": [1,2], // last\r\n\t"mcpServers": {\r\n'),
    ).toBe(true);
    expect(after.endsWith("\r\n\t}\r\n\t// below\r\n}")).toBe(true);
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(parse(after).mcpServers.memdir).toEqual(SERVER);
    expect(remove(after, new Set(["mcpServers"]), VALUE)).toBe(text);
  });

  test("a text on one line stays on one line, with its spaces or without", () => {
    expect(add('{"a":1}', VALUE).text).toBe(`{"a":1,"mcpServers":${JSON.stringify({ memdir: SERVER })}}`);
    expect(add('{ "a": 1 }', VALUE).text).toBe(`{ "a": 1, "mcpServers": ${JSON.stringify({ memdir: SERVER })} }`);
    for (const text of ['{"a":1}', '{ "a": 1 }', '{"a":1,}', '{"mcpServers":{"x":{}}}']) {
      const { text: after, made } = add(text, VALUE);
      expect(remove(after, made, VALUE)).toBe(text);
    }
  });

  test("neighbours stay, also with a trailing comma and a comment in an otherwise empty object", () => {
    for (const text of [
      '{\n  "mcpServers": {\n    "x": { "command": "y" },\n  },\n}\n',
      '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
      '{\n    "mcpServers": {},\n    "z": null\n}\n',
      '{\n  "a": 1\n}\n\n',
      '{ "a": 1,\n  "b": 2 }\n',
      '{ "a": 1, "u": "http://x", // c\n "mcpServers": { "x": 1 } }',
    ]) {
      const { text: after, made } = add(text, VALUE);
      expect(parse(after)).toEqual({ ...parse(text), mcpServers: { ...parse(text).mcpServers, memdir: SERVER } });
      expect(remove(after, made, VALUE)).toBe(text);
    }
  });

  test("what stands behind ours on its line does not end up in a comment", () => {
    const text = `{ "a": 1, // c\n"mcpServers": { "memdir": ${JSON.stringify(SERVER)} } }`;
    expect(parse(remove(text, null, VALUE))).toEqual({ a: 1 });
  });

  test("again: nothing changes; moved: only what is ours does, and what the user added stays", () => {
    const { text } = add('{\n  "a": 1\n}\n', VALUE);
    expect(add(text, VALUE).text).toBe(text);
    const own = text.replace('"command":', '"env": { "MEMDIR_MODEL": "m" }, // mine\n      "command":');
    const elsewhere: Part = { ...VALUE, value: { command: "/new/node", args: ["/new/cli.js", "mcp"] } } as Part;
    const { text: after } = add(own, elsewhere);
    expect(after).toContain('"env": { "MEMDIR_MODEL": "m" }, // mine');
    expect(parse(after).mcpServers.memdir).toEqual({
      env: { MEMDIR_MODEL: "m" },
      command: "/new/node",
      args: ["/new/cli.js", "mcp"],
    });
  });

  test.each([
    ['{ "a": }', /^f\.json:1:8 is not valid JSON \(value expected\)/],
    ['{\n  "a": 1\n  "b": 2\n}', /^f\.json:3:3 is not valid JSON \(comma expected\)/],
    ["[]", /^f\.json:1:1: the file is not an object/],
    ['"text"', /the file is not an object/],
    ['{"mcpServers": []}', /^f\.json:1:16: "mcpServers" is not an object; make it one/],
    ['{"mcpServers": null}', /"mcpServers" is not an object/],
    ['{"mcpServers": {},\n"mcpServers": {}}', /^f\.json has the key "mcpServers" twice \(lines 1 and 2\)/],
    ['{"mcpServers": {"memdir": {}, "memdir": 1}}', /"memdir" twice/],
    ["{", /is not valid JSON/],
    ["\0\0", /is not valid JSON/],
  ])("%j is refused with the place", (text, message) => {
    expect(() => add(text, VALUE)).toThrow(message);
  });
});

test("a text that is nested too deeply is refused, not died of", () => {
  const text = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  expect(() => add(text, VALUE)).toThrow(/^f\.json is nested too deeply/);
});

describe("hooks", () => {
  const group = (command: string) => ({ hooks: [{ type: "command", command, timeout: 5 }] });

  test("others stay as they are, ours comes last, twice changes nothing", () => {
    const text = `{
    "hooks": {
        "Stop": [{ "matcher": "", "hooks": [{ "type": "command", "command": "beep" }] }] // mine
    }
}
`;
    const { text: after, made } = add(text, HOOKS);
    expect(after).toContain(
      '"Stop": [{ "matcher": "", "hooks": [{ "type": "command", "command": "beep" }] }, {"hooks":',
    );
    expect(parse(after).hooks).toEqual({
      Stop: [{ matcher: "", hooks: [{ type: "command", command: "beep" }] }, group(HOOK)],
      PreToolUse: [group(HOOK)],
    });
    expect(add(after, HOOKS).text).toBe(after);
    expect([...made]).toEqual(["hooks/PreToolUse"]);
    expect(remove(after, made, HOOKS)).toBe(text);
  });

  test("ours of another installation is changed in place, and its timeout is the user's", () => {
    const old = '"/n" "/home/x/lib/node_modules/memdir/dist/hook.cjs"';
    const text = JSON.stringify({ hooks: { Stop: [group(old)], PreToolUse: [group("other")] } }, null, 2).replace(
      "5",
      "99",
    );
    const after = parse(add(text, HOOKS).text).hooks;
    expect(after.Stop).toEqual([{ hooks: [{ type: "command", command: HOOK, timeout: 99 }] }]);
    expect(after.PreToolUse).toEqual([group("other"), group(HOOK)]);
  });

  test("doubled ones become one; one in a group with others leaves them", () => {
    const shared = {
      hooks: [
        { type: "command", command: "a" },
        { type: "command", command: HOOK },
      ],
    };
    const text = JSON.stringify(
      { hooks: { Stop: [shared, group(HOOK), group(HOOK)], PreToolUse: [group(HOOK)] } },
      null,
      2,
    );
    const { text: after, made } = add(text, HOOKS);
    expect(parse(after).hooks.Stop).toEqual([shared]);
    expect(parse(remove(after, made, HOOKS)).hooks).toEqual({
      Stop: [{ hooks: [{ type: "command", command: "a" }] }],
      PreToolUse: [],
    });
    expect(parse(remove(after, null, HOOKS)).hooks).toEqual({ Stop: [{ hooks: [{ type: "command", command: "a" }] }] });
  });

  test("what is odd but not in the way is passed over; what is in the way is refused", () => {
    const odd = '{"hooks": {"Other": 7, "Stop": [null, 3, {"hooks": 1}, {"hooks": [null, {"command": 4}]}]}}';
    const { text: after, made } = add(odd, HOOKS);
    expect(remove(after, made, HOOKS)).toBe(odd);
    expect(() => add('{"hooks": {"Stop": {}}}', HOOKS)).toThrow(/^f\.json:1:20: "Stop" is not a list; make it one/);
    expect(() => add('{"hooks": []}', HOOKS)).toThrow(/"hooks" is not an object/);
    expect(remove('{"hooks": []}', null, HOOKS)).toBe('{"hooks": []}');
  });
});

test("any JSON object in any layout: put in, still right, put in again, taken out to the byte", () => {
  const layout = fc.constantFrom<string | number>(0, 1, 2, 4, "\t");
  const breaks = fc.constantFrom("\n", "\r\n");
  const hooks = fc.record({ Stop: fc.array(fc.object({ maxDepth: 1 })), Other: fc.jsonValue() }, { requiredKeys: [] });
  const settings = fc.record(
    {
      a: fc.jsonValue(),
      hooks,
      mcpServers: fc.dictionary(
        fc.string().filter((key) => key !== "__proto__"),
        fc.jsonValue(),
      ),
      z: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(settings, layout, breaks, fc.constantFrom("", "\n"), (value, indent, eol, end) => {
      const text = `${JSON.stringify(value, null, indent)}${end}`.replaceAll("\n", eol);
      if (value.mcpServers && "memdir" in value.mcpServers) return;
      const { text: after, made } = add(text, VALUE, HOOKS);
      const read = JSON.parse(after);
      expect(read.mcpServers.memdir).toEqual(SERVER);
      expect({ ...read, hooks: null, mcpServers: null }).toEqual({
        ...JSON.parse(text),
        hooks: null,
        mcpServers: null,
      });
      expect(add(after, VALUE, HOOKS).text).toBe(after);
      expect(remove(after, made, HOOKS, VALUE)).toBe(text);
    }),
    { numRuns: 200 },
  );
});
