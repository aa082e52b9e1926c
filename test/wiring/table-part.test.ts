/** A table in a TOML text, checked by a real parser. */

import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { addTable, readTable, removeTable, type TablePart } from "../../src/wiring/table-part.ts";
import { SERVER } from "./machine.ts";

const PART: TablePart = {
  kind: "table",
  file: "config.toml",
  why: "",
  table: ["mcp_servers", "memdir"],
  values: SERVER,
};
const BLOCK = `[mcp_servers.memdir]
command = "/usr/bin/node"
args = ["/opt/memdir/dist/cli.js", "mcp"]
`;

describe("put in", () => {
  test("a new file, an empty one, one without a final newline, one with CRLF", () => {
    expect(addTable(null, PART)).toBe(BLOCK);
    expect(addTable("", PART)).toBe(BLOCK);
    expect(addTable('model = "o"', PART)).toBe(`model = "o"\n\n${BLOCK}`);
    const crlf = addTable('model = "o" # mine\r\n[a]\r\nb = 1\r\n', PART);
    expect(crlf).toBe(`model = "o" # mine\r\n[a]\r\nb = 1\r\n\r\n${BLOCK.replaceAll("\n", "\r\n")}`);
  });

  test("strings, arrays over lines and comments that look like headers are no headers", () => {
    const text = `a = """
[mcp_servers.memdir]
\\""" # still
"""
b = '''
[mcp_servers.memdir]'''
c = [
  "[mcp_servers.memdir]", # ]
  [1, 2],
]
d = { e = "#", f = ']' } # [mcp_servers.memdir]
# [mcp_servers.memdir]
[[list]]
"x.y" = 'z'
[mcp_servers."other"]
command = "c"
`;
    const after = addTable(text, PART);
    expect(after).toBe(`${text}\n${BLOCK}`);
    expect(parse(after).mcp_servers).toEqual({ other: { command: "c" }, memdir: SERVER });
    expect(removeTable(after, PART)).toBe(text);
  });

  test("again: nothing changes, however it is written", () => {
    const text = `[ mcp_servers . 'memdir' ] # mine\nargs = [\n  "/opt/memdir/dist/cli.js",\n  "mcp",\n]\ncommand = "/usr/bin/node"\n`;
    expect(addTable(text, PART)).toBe(text);
    expect(addTable(addTable("x = 1\n", PART), PART)).toBe(`x = 1\n\n${BLOCK}`);
  });

  test("moved: its values are changed in place, other keys, comments and tables below stay", () => {
    const text = `# top
[mcp_servers.memdir]
# how
command = '/old/node' # which
startup_timeout_sec = 20
args = [
  "/old/cli.js", # the program
  "mcp"
]

[mcp_servers.memdir.env]
A = "b"

[z]
y = 1`;
    const after = addTable(text, PART);
    expect(after).toContain('# how\ncommand = "/usr/bin/node" # which\nstartup_timeout_sec = 20\nargs = ["/opt/memdir');
    expect(parse(after)).toEqual({
      mcp_servers: { memdir: { ...SERVER, startup_timeout_sec: 20, env: { A: "b" } } },
      z: { y: 1 },
    });
    expect(removeTable(after, PART)).toBe("# top\n[z]\ny = 1");
  });

  test("a header alone, also at the very end", () => {
    for (const text of ["[mcp_servers.memdir]", "[mcp_servers.memdir]\n", "[mcp_servers.memdir]\n[b]\n"]) {
      expect(parse(addTable(text, PART)).mcp_servers).toEqual({ memdir: SERVER });
    }
  });

  test.each([
    ['mcp_servers = { x = { command = "y" } }', 1],
    ["a = 1\nmcp_servers.memdir.command = 'x'", 2],
    ['[mcp_servers]\nmemdir = { command = "x" }', 2],
    ["[[mcp_servers]]\nname = 'x'", 1],
    ["[mcp_servers.memdir]\n[a]\n[mcp_servers.memdir]", 3],
  ])("%j is refused with the line", (text, line) => {
    expect(() => addTable(text, PART)).toThrow(`config.toml:${line} sets mcp_servers.memdir in a way`);
  });

  test.each(["a = ", "= 1", "a", "[a", "[a] b", 'a = """x', "a = [1", "a = 1 ]", 'a = "x', "\0", "{}"])(
    "%j is refused as no TOML",
    (text) => {
      expect(() => addTable(`ok = 1\n${text}`, PART)).toThrow("config.toml:2 is no TOML that memdir can read");
    },
  );

  test("characters that strings of TOML cannot hold are escaped", () => {
    const odd = { ...PART, values: { command: 'C:\\a "b"\x7f\n\u00e9\u{1f600}' } };
    const after = addTable("", odd);
    expect(parse(after)).toEqual({ mcp_servers: { memdir: odd.values } });
    expect(readTable(after, odd, "command")).toBe(odd.values.command);
  });
});

test("read: what is plain, else nothing", () => {
  expect(readTable(BLOCK, PART, "args")).toEqual(SERVER.args);
  expect(readTable(BLOCK, PART, "none")).toBe(null);
  expect(readTable("[mcp_servers.memdir]\ncommand = 'x'", PART, "command")).toBe(null);
  expect(readTable("", PART, "command")).toBe(null);
});

test("any TOML: put in, still right, put in again, taken out to the byte", () => {
  const key = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__" && name.isWellFormed());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), fc.constantFrom("\n", "\r\n"), (content, eol) => {
      if ("mcp_servers" in content) return;
      const text = stringify(content as Record<string, unknown>).replaceAll("\n", eol);
      const after = addTable(text, PART);
      expect(parse(after)).toEqual({ ...parse(text), mcp_servers: { memdir: SERVER } });
      expect(addTable(after, PART)).toBe(after);
      expect(removeTable(after, PART)).toBe(text);
    }),
    { numRuns: 100 },
  );
});
