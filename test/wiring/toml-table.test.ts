/** A table in a TOML text, checked by a real parser. */

import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import * as toml from "../../src/wiring/toml-table.ts";
import { SERVER } from "./machine.ts";

const TABLE = ["mcp_servers", "memdir"];
const addTable = (text: string) => toml.addTable(text, TABLE, SERVER, "config.toml");
const readTable = (text: string) => toml.readTable(text, TABLE, "config.toml");
const removeTable = (text: string) => toml.removeTable(text, TABLE, "config.toml");
const BLOCK = `[mcp_servers.memdir]
command = "/usr/bin/node"
args = ["/opt/memdir/dist/cli.js", "mcp"]
`;

describe("put in", () => {
  test("an empty file, one without a final newline, one with CRLF", () => {
    expect(addTable("")).toBe(BLOCK);
    expect(addTable('model = "o"')).toBe(`model = "o"\n\n${BLOCK}`);
    const crlf = addTable('model = "o" # mine\r\n[a]\r\nb = 1\r\n');
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
    const after = addTable(text);
    expect(after).toBe(`${text}\n${BLOCK}`);
    expect(parse(after).mcp_servers).toEqual({ other: { command: "c" }, memdir: SERVER });
    expect(removeTable(after)).toBe(text);
  });

  test("again: nothing changes, however it is written", () => {
    const text = `[ mcp_servers . 'memdir' ] # mine\nargs = [\n  "/opt/memdir/dist/cli.js",\n  "mcp",\n]\ncommand = "/usr/bin/node"\n`;
    expect(addTable(text)).toBe(text);
    expect(addTable(addTable("x = 1\n"))).toBe(`x = 1\n\n${BLOCK}`);
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
    const after = addTable(text);
    expect(after).toContain('# how\ncommand = "/usr/bin/node" # which\nstartup_timeout_sec = 20\nargs = ["/opt/memdir');
    expect(parse(after)).toEqual({
      mcp_servers: { memdir: { ...SERVER, startup_timeout_sec: 20, env: { A: "b" } } },
      z: { y: 1 },
    });
    expect(removeTable(after)).toBe("# top\n[z]\ny = 1");
  });

  test("a header alone, also at the very end", () => {
    for (const text of ["[mcp_servers.memdir]", "[mcp_servers.memdir]\n", "[mcp_servers.memdir]\n[b]\n"]) {
      expect(parse(addTable(text)).mcp_servers).toEqual({ memdir: SERVER });
    }
  });

  test.each([
    ['mcp_servers = { x = { command = "y" } }', 1],
    ["a = 1\nmcp_servers.memdir.command = 'x'", 2],
    ['[mcp_servers]\nmemdir = { command = "x" }', 2],
    ["[[mcp_servers]]\nname = 'x'", 1],
    ["[mcp_servers.memdir]\n[a]\n[mcp_servers.memdir]", 3],
  ])("%j is refused with the line", (text, line) => {
    expect(() => addTable(text)).toThrow(`config.toml:${line} sets mcp_servers.memdir in a way`);
  });

  test.each(["a = ", "= 1", "a", "[a", "[a] b", 'a = """x', "a = [1", "a = 1 ]", 'a = "x', "\0", "{}"])(
    "%j is refused as no TOML",
    (text) => {
      expect(() => addTable(`ok = 1\n${text}`)).toThrow("config.toml:2 is not TOML that memdir can read");
    },
  );

  test("characters that strings of TOML cannot hold are escaped", () => {
    const odd = { command: 'C:\\a "b"\x7f\n\u00e9\u{1f600}' };
    const after = toml.addTable("", TABLE, odd, "config.toml");
    expect(parse(after)).toEqual({ mcp_servers: { memdir: odd } });
    expect(readTable(after)?.command).toBe(odd.command);
  });
});

test("read: what is plain, else nothing", () => {
  expect(readTable(BLOCK)).toEqual(SERVER);
  expect(readTable("[mcp_servers.memdir]\ncommand = 'x'")).toEqual({ command: null });
  expect(readTable("")).toBe(null);
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
      const after = addTable(text);
      expect(parse(after)).toEqual({ ...parse(text), mcp_servers: { memdir: SERVER } });
      expect(addTable(after)).toBe(after);
      expect(removeTable(after)).toBe(text);
    }),
    { numRuns: 100 },
  );
});
