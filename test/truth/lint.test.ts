/** What lint says about wording: on a hundred good memories nothing, on a hundred bad ones the right thing. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseMemory } from "../../src/store/memory.ts";
import { termsOf } from "../../src/text/terms.ts";
import { lintMemories, lintStore } from "../../src/truth/lint.ts";
import { mainOf, makeWorld } from "../world.ts";

const read = (name: string) => fs.readFileSync(path.join(import.meta.dirname, "lint", name), "utf8");

interface Case {
  head: string[];
  text: string;
}

/** `=== [RULE |] TYPE | NAME | DESCRIPTION`, then the body. */
function readCases(name: string): Case[] {
  return read(name)
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const end = block.indexOf("\n");
      const head = block.slice(0, end).split(" | ");
      const [type, title, description] = head.slice(-3);
      const body = block.slice(end + 1);
      return { head, text: `---\nname: ${title}\ndescription: ${description}\ntype: ${type}\n---\n\n${body}` };
    });
}

const INSTRUCTIONS = [{ path: "CLAUDE.md", text: read("instructions.md") }];

function lintText(text: string, file = "m.md") {
  return lintMemories([{ memory: parseMemory(file, text), text }], INSTRUCTIONS, termsOf);
}

describe("lint on a corpus", () => {
  it("C31 more than a hundred good memories: no false alarm", () => {
    const good = readCases("good.txt");
    expect(good.length).toBeGreaterThan(100);
    const alarms = good.flatMap(({ head, text }) =>
      lintText(text).map(({ rule, message }) => `${head.join(" | ")}: ${rule}: ${message}`),
    );
    expect(alarms).toEqual([]);
  });

  it("B3.1 B3.2 B3.3 B3.4 more than a hundred bad ones: each named for what it is, and for nothing else", () => {
    const bad = readCases("bad.txt");
    expect(bad.length).toBeGreaterThan(100);
    const wrong = bad.flatMap(({ head, text }) => {
      const rules = lintText(text).map(({ rule }) => rule);
      return rules.length === 1 && rules[0] === head[0]
        ? []
        : [`${head.join(" | ")}: ${rules.join(", ") || "nothing"}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe("lint", () => {
  it("names the line in the file, and what to do", () => {
    const text =
      "---\nname: x\ndescription: Two things about the build\ntype: user\n---\n\nLikes tea.\n\nUnrelated: the build is slow.\n";
    expect(lintText(text)).toEqual([
      {
        file: "m.md",
        line: 9,
        rule: "two-facts",
        message: '"Unrelated:" begins another fact: put each into its own memory',
      },
    ]);
  });

  it("joins format and wording, by file, the index last", async () => {
    const place = makeWorld();
    place.write("b.md", "---\nname: b\ndescription: notes\ntype: feedback\n---\n\nRule.\n");
    place.write("a.md", "---\nname: a\ndescription: misc\ntype: user\n---\n\nLikes tea.\n");
    place.write("MEMORY.md", `- [a](a.md) — ${"x".repeat(300)}\n- [gone](gone.md)\n`);
    const problems = await lintStore(mainOf(await place.open()), [], termsOf);
    expect(problems.map(({ file, rule }) => `${file} ${rule}`)).toEqual([
      "a.md vague-description",
      "b.md why",
      "b.md how",
      "b.md vague-description",
      "MEMORY.md index-line-length",
      "MEMORY.md index-dangling",
    ]);
  });

  it("says nothing about wording where a file cannot be read, and does not stumble over hostile text", () => {
    expect(lintText("---\nname: x\n")).toEqual([]);
    for (const body of [
      "",
      "\u0000\ud800",
      "```\n".repeat(3000),
      "# a\n".repeat(3000),
      `${"a/".repeat(20_000)}b.ts`,
      "- ".repeat(30_000),
      `${"x ".repeat(30_000)}is in a.ts`,
      `The ${"very ".repeat(20_000)}limit is 5`,
      "`".repeat(50_000),
      "**why:** ".repeat(5000),
    ]) {
      lintText(`---\nname: x\ndescription: About the limits of texts\ntype: project\n---\n\n${body}`);
    }
  });

  it("CRLF and a byte order mark change nothing", () => {
    const text =
      "\ufeff---\r\nname: x\r\ndescription: notes\r\ntype: user\r\n---\r\n\r\nLikes tea.\r\n\r\nSeparately, coffee too.\r\n";
    expect(lintText(text).map(({ rule, line }) => [rule, line])).toEqual([
      ["vague-description", null],
      ["two-facts", 9],
    ]);
  });
});
