import { describe, expect, it } from "vitest";
import { arrangeIndex } from "../../src/store/index-file.ts";
import { parseHeader } from "../../src/store/memory.ts";
import { memoryText } from "../learn/dream-mess.ts";

describe("the index in order", () => {
  const headers = new Map(
    ["user_a.md", "feedback_b.md", "project_c.md", "user_p.md"].map((file) => [
      file,
      parseHeader(file, memoryText(file.split("_")[0]!, file, "B.", file === "user_p.md" ? "pinned: true\n" : "")),
    ]),
  );
  const line = (file: string) => `- [${file}](${file}) — about ${file}`;
  const arrange = (text: string) => arrangeIndex(text, (file) => headers.get(file) ?? null);

  it("sorts runs of our own lines, and moves nothing that was written by hand", () => {
    const text = `# T\r\n${line("project_c.md")}\r\n${line("user_a.md")}\r\n- [Mine](feedback_b.md) mine\r\n${line("user_a.md")}\r\n${line("user_p.md")}`;
    expect(arrange(text)).toBe(
      `# T\r\n${line("user_a.md")}\r\n${line("project_c.md")}\r\n- [Mine](feedback_b.md) mine\r\n${line("user_p.md")}\r\n${line("user_a.md")}`,
    );
  });

  it("takes out lines that point to nothing, and changes nothing the second time", () => {
    const text = `${line("user_a.md")}\n${line("gone.md")}\nText\n${line("feedback_b.md")}\n`;
    expect(arrange(text)).toBe(`${line("user_a.md")}\nText\n${line("feedback_b.md")}\n`);
    expect(arrange(arrange(text))).toBe(arrange(text));
    expect(arrange("")).toBe("");
  });
});
