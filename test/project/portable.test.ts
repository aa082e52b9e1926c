/** Paths of Windows by their text, and files of a checkout with CRLF: what holds there without being there. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { findNameProblem, isWithin } from "../../src/disk/fence.ts";
import { checkDirectoryPath, separatorSlug, slugOf } from "../../src/project/locate.ts";
import { hookCommand } from "../../src/wiring/clients.ts";
import { openSandbox } from "../cli/run.ts";

it("names a project's folder without drive colons, backslashes or a share's name as a path", () => {
  expect(slugOf("C:\\Users\\ada\\shop")).toBe("C--Users-ada-shop");
  expect(slugOf("\\\\server\\share\\shop")).toBe("--server-share-shop");
  expect(separatorSlug("D:\\work\\shop")).toBe("D:-work-shop");
  expect(slugOf(`C:\\${"x".repeat(300)}`)).toMatch(/^C--x{197}-[0-9a-z]+$/);
});

it.each([
  ["C:\\Users\\ada\\.claude", "c:\\users\\ADA\\.claude\\memory\\a.md", true],
  ["C:\\Users\\ada\\.claude", "D:\\Users\\ada\\.claude\\a.md", false],
  ["C:\\store", "C:\\store-of-another\\a.md", false],
  ["C:\\store", "C:\\store\\..\\secret.md", false],
  ["\\\\server\\share\\store", "\\\\server\\share\\store\\a.md", true],
  ["\\\\server\\share\\store", "\\\\server\\other\\store\\a.md", false],
  ["\\\\server\\share", "C:\\share\\a.md", false],
])("fences %s against %s: %s", (dir, file, inside) => {
  expect(isWithin(dir, file, path.win32)).toBe(inside);
});

it.each(["C:secret.md", "c:/secret.md", "..\\secret.md", "\\\\server\\share\\a.md", "a.md\\..\\..\\b", "%43%3A%5Cb"])(
  "refuses %s as the name of a memory on every system",
  (name) => expect(findNameProblem(name)).not.toBeNull(),
);

it("takes a folder on a drive as a memory directory, and neither a share, a drive nor a folder without one", () => {
  const check = (value: string) =>
    checkDirectoryPath(value, "C:\\Users\\ada", { platform: "win32", repository: "D:\\shop" });
  expect(check("D:/shop/.claude/memory")).toEqual({ path: "D:\\shop\\.claude\\memory" });
  expect(check("~\\notes")).toEqual({ path: "C:\\Users\\ada\\notes" });
  for (const refused of ["\\\\server\\share\\notes", "D:\\", "\\notes", "d:\\SHOP", "C:\\Users"])
    expect([refused, "reason" in check(refused)]).toEqual([refused, true]);
});

it("starts the hook by quoted paths with forward slashes, which every shell of Windows takes", () => {
  const machine = {
    node: "C:\\Program Files\\nodejs\\node.exe",
    dist: "C:\\tools\\memdir\\dist",
    platform: "win32" as const,
  };
  expect(hookCommand(machine)).toMatch(/^"C:\/Program Files\/nodejs\/node\.exe" "C:\/tools\/memdir\/dist.hook\.cjs"$/);
});

it("reads a checkout with CRLF and leaves its line ends as they are", async () => {
  const sandbox = openSandbox();
  const crlf = (...lines: string[]) => `${lines.join("\r\n")}\r\n`;
  const note = crlf(
    "---",
    "name: old note",
    "description: Written on Windows",
    "type: feedback",
    "---",
    "",
    "Use pnpm.",
  );
  const line = "- [old note](feedback_old.md) — Written on Windows\r\n";
  const settings = crlf("{", '  "autoMemoryEnabled": true', "}");
  const store = path.relative(sandbox.top, sandbox.dir());
  sandbox.put(`${store}/feedback_old.md`, note);
  sandbox.put(`${store}/MEMORY.md`, line);
  sandbox.put("home/.claude/settings.json", settings);
  sandbox.put("project/CLAUDE.md", crlf("Rules", "@docs/more.md"));
  sandbox.put("project/docs/more.md", crlf("More rules"));
  const read = (file: string) => fs.readFileSync(path.join(sandbox.dir(), file), "utf8");

  expect(await sandbox.json(["list"])).toMatchObject([
    { name: "old note", description: "Written on Windows", problems: [] },
  ]);
  expect((await sandbox.run(["context"])).out).toContain("docs/more.md");
  await sandbox.json(["save", "--name", "new", "Second memory here."]);
  expect(read("MEMORY.md")).toBe(`${line}- [new](project_new.md) — Second memory here.\r\n`);
  await sandbox.json(["undo"]);
  expect([read("MEMORY.md"), read("feedback_old.md")]).toEqual([line, note]);

  await sandbox.json(["init", "--yes", "--agent", "claude-code"]);
  const wired = fs.readFileSync(sandbox.at("home/.claude/settings.json"), "utf8");
  expect(wired.match(/(?<!\r)\n/g)).toBeNull();
  await sandbox.json(["uninstall", "--yes"]);
  expect(fs.readFileSync(sandbox.at("home/.claude/settings.json"), "utf8")).toBe(settings);
});
