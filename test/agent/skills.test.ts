import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSkills, rankSkills, type Skill } from "../../src/agent/sub-agent.ts";
import { makeWorld } from "../world.ts";

function shelf() {
  const folder = join(makeWorld().top, "skills");
  mkdirSync(folder);
  const put = (name: string, text: string | Uint8Array) => {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "SKILL.md"), text);
  };
  return { folder, put, names: () => findSkills([folder]).map(({ name }) => name) };
}

const text = (name: string, description = `about ${name}`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\nBody.\n`;

describe("finding skills", () => {
  it("B11.10 reads name and description, in order of folder", () => {
    const { folder, put } = shelf();
    put("zip", text("zip"));
    put("deploy", text("ship it", "Deploys: to #prod"));
    expect(findSkills([folder])).toEqual([
      { name: "ship it", description: "Deploys: to #prod", path: join(folder, "deploy", "SKILL.md") },
      { name: "zip", description: "about zip", path: join(folder, "zip", "SKILL.md") },
    ]);
  });

  it("takes the folder's name when there is none, and lines as one", () => {
    const { folder, put } = shelf();
    put("deploy", "\uFEFF---\r\ndescription: >\r\n  one\r\n  two\r\n---\r\n");
    expect(findSkills([folder])).toMatchObject([{ name: "deploy", description: "one two" }]);
  });

  it("the first folder hides others of the same name", () => {
    const [mine, theirs] = [shelf(), shelf()];
    mine.put("a", text("a", "mine"));
    theirs.put("a", text("a", "theirs"));
    theirs.put("b", text("b", "theirs"));
    const found = findSkills([
      mine.folder,
      theirs.folder,
      join(mine.folder, "missing"),
      join(mine.folder, "a", "SKILL.md"),
    ]);
    expect(found.map(({ name, description }) => `${name}: ${description}`)).toEqual(["a: mine", "b: theirs"]);
  });

  it("passes over what is broken, and reads the rest", () => {
    const { folder, put, names } = shelf();
    put("good", text("good"));
    put("empty", "");
    put("plain", "# No frontmatter");
    put("open", "---\nname: open\ndescription: never closed\n");
    put("nameless", "---\nname: x\n---\n");
    put("list", "---\nname: x\ndescription: [a, b]\n---\n");
    put("long-name", text("n".repeat(101)));
    put("binary", new Uint8Array([0, 255, 254, 128, 0]));
    put(".hidden", text("hidden"));
    mkdirSync(join(folder, "no-file"));
    mkdirSync(join(folder, "folder-as-file", "SKILL.md"), { recursive: true });
    writeFileSync(join(folder, "file"), "x");
    expect(names()).toEqual(["good"]);
  });

  it("reads only the head of a large file", () => {
    const { put, names } = shelf();
    put("large", `${text("large")}${"x".repeat(1 << 20)}`);
    put("late", `---\nname: late\n${"# filler\n".repeat(3000)}description: too late\n---\n`);
    expect(names()).toEqual(["large"]);
  });

  it("is bounded in their number", () => {
    const { put, names } = shelf();
    for (let i = 0; i < 510; i++) put(`s${i}`, text(`s${i}`));
    expect(names()).toHaveLength(500);
  });

  it.skipIf(process.platform === "win32")("follows no link out of the folder and waits at no fifo", () => {
    const { folder, put, names } = shelf();
    const outside = join(folder, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "SKILL.md"), text("outside"));
    put("good", text("good"));
    symlinkSync(outside, join(folder, "linked-folder"));
    mkdirSync(join(folder, "linked-file"));
    symlinkSync(join(outside, "SKILL.md"), join(folder, "linked-file", "SKILL.md"));
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("loop", join(folder, "loop"));
    mkdirSync(join(folder, "fifo"));
    execFileSync("mkfifo", [join(folder, "fifo", "SKILL.md")]);
    expect(names()).toEqual(["good"]);
    symlinkSync(folder, join(folder, "..", "alias"));
    expect(findSkills([join(folder, "..", "alias")]).map(({ name }) => name)).toEqual(["good"]);
  });

  it.skipIf(process.getuid?.() === 0 || process.platform === "win32")("passes over what it may not read", () => {
    const { folder, put, names } = shelf();
    put("secret", text("secret"));
    chmodSync(join(folder, "secret", "SKILL.md"), 0);
    expect(names()).toEqual([]);
  });
});

describe("ranking skills", () => {
  const skill = (name: string, description: string): Skill => ({ name, description, path: `/s/${name}/SKILL.md` });
  const pdf = skill("pdf-forms", "Fills in PDF forms and reads their fields");
  const deploy = skill("deploy", "Deploys the service to staging");
  const chinese = skill("report", "生成部署报告");

  it("B11.10 gives those that share words with the prompt, the best first", () => {
    expect(rankSkills([deploy, pdf], "fill this PDF form and deploy it")).toEqual([pdf, deploy]);
    expect(rankSkills([pdf, deploy], "deploying to staging")).toEqual([deploy]);
    expect(rankSkills([deploy, pdf, chinese], "写一个部署报告")).toEqual([chinese]);
  });

  it("gives none when nothing fits, and five at most", () => {
    expect(rankSkills([pdf, deploy], "what is the weather")).toEqual([]);
    expect(rankSkills([pdf], "")).toEqual([]);
    expect(rankSkills([], "pdf")).toEqual([]);
    const many = [1, 2, 3, 4, 5, 6, 7].map((n) => skill(`pdf${n}`, "pdf"));
    expect(rankSkills(many, "a pdf")).toEqual(many.slice(0, 5));
  });
});
