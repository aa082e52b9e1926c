import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { searchTree } from "../../src/truth/occurrences.ts";
import type { Tree } from "../../src/truth/tree.ts";
import { makeWorld } from "../world.ts";

it("reads ordinary files, and nothing else", async () => {
  const { project } = makeWorld();
  const at = (file: string) => path.join(project, file);
  fs.mkdirSync(at("src/folder"), { recursive: true });
  fs.writeFileSync(at("top.ts"), "wanted");
  fs.writeFileSync(at("src/a.ts"), "wanted");
  fs.writeFileSync(at("src/empty.ts"), "");
  fs.writeFileSync(at("src/over.ts"), `wanted ${"x\n".repeat(2 << 20)}`);
  fs.symlinkSync("a.ts", at("src/link.ts"));
  if (process.platform !== "win32") execFileSync("mkfifo", [at("src/fifo.ts")]);
  const read = ["top.ts", "src/a.ts"];
  const left = ["empty", "over", "link", "fifo", "folder", "none"].map((name) => `src/${name}.ts`);
  const files = new Set([...read, ...left, "src/folder", "none/a.ts", "a\0.ts"]);
  const { found } = await searchTree({ root: project, files } as Pick<Tree, "root" | "files"> as Tree, ["wanted"]);
  expect(found.get("wanted")?.map(({ file }) => file)).toEqual(read);
});
