import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type InstructionFile,
  type InstructionSource,
  LABELS,
  PREAMBLE,
  renderFor,
  renderInstructions,
} from "../../src/instructions/file.ts";

function file(path: string, source: InstructionSource, content: string): InstructionFile {
  return { path, source, label: LABELS[source], content, size: content.length, importedBy: null };
}

const USER = file("/home/u/.claude/CLAUDE.md", "user", "Be brief.");
const PROJECT = file("/p/CLAUDE.md", "project", "Use tabs.");
const RULE = file("/p/.claude/rules/a.md", "project", "Rule A.");
const LOCAL = file("/p/CLAUDE.local.md", "local", "Mine.");
const MANAGED = file("/etc/x/CLAUDE.md", "managed", "Policy.");

describe("rendering", () => {
  it("B0.9 B0.10 B0.11: one string, the preamble once ahead of all, then each file under its header", () => {
    expect(renderInstructions([USER, PROJECT, RULE])).toBe(
      [
        PREAMBLE,
        "Contents of /home/u/.claude/CLAUDE.md (user's private global instructions for all projects):",
        "Be brief.",
        "Contents of /p/CLAUDE.md:",
        "Use tabs.",
        "Contents of /p/.claude/rules/a.md:",
        "Rule A.",
      ].join("\n\n"),
    );
  });

  it("B0.10: managed and local files say what they are", () => {
    const text = renderInstructions([MANAGED, LOCAL]);
    expect(text).toContain("\n\nContents of /etc/x/CLAUDE.md (organization-managed policy instructions):\n\nPolicy.");
    expect(text).toContain("(user's private project instructions, not checked in):\n\nMine.");
  });

  it("B0.11: the preamble says that these are instructions to be followed exactly and that they win", () => {
    expect(PREAMBLE).toMatch(/follow it exactly/i);
    expect(PREAMBLE).toMatch(/it wins/);
    expect(renderInstructions([USER, PROJECT]).split(PREAMBLE)).toHaveLength(2);
  });

  it("B0.12 C19: as a user message in a reminder", () => {
    expect(renderFor([PROJECT], "user")).toEqual({
      role: "user",
      text: `<system-reminder>\n${renderInstructions([PROJECT])}\n</system-reminder>`,
    });
  });

  it("B0.12 C19: as a system block that may be cached", () => {
    expect(renderFor([PROJECT], "system")).toEqual({
      role: "system",
      text: renderInstructions([PROJECT]),
      cache_control: { type: "ephemeral" },
    });
  });

  it("B0.9: no files give no text and no block", () => {
    expect(renderInstructions([])).toBe("");
    expect(renderFor([], "user")).toBeNull();
    expect(renderFor([], "system")).toBeNull();
  });

  it("B0.9 B0.10: whatever the files hold, each comes once, whole and in order", () => {
    const source = fc.constantFrom<InstructionSource>("managed", "user", "project", "local");
    const files = fc.array(fc.tuple(fc.string(), source, fc.string({ unit: "binary" })), { maxLength: 8 });
    fc.assert(
      fc.property(files, (parts) => {
        const all = parts.map(([name, from, content], i) => file(`/${i}/${name}`, from, content));
        const text = renderInstructions(all);
        expect(renderInstructions(all)).toBe(text);
        let at = 0;
        for (const each of all) {
          const found = text.indexOf(`Contents of ${each.path}`, at);
          expect(found).toBeGreaterThanOrEqual(at);
          at = text.indexOf(each.content, found) + each.content.length;
        }
      }),
    );
  });
});
