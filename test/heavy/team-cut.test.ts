/** A sync that is cut off before each of its steps on the disk, one after the other: no line is ever missing where it was written. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import * as esbuild from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { syncDirectory } from "../../src/team/sync.ts";
import { openDiskRemote } from "../team/disk-remote.ts";
import { directoryAt } from "../team/sync-world.ts";
import { makeTemporary } from "../temporary.ts";

let program: string;
beforeAll(async () => {
  const outdir = makeTemporary("cut-program");
  await esbuild.build({
    entryPoints: [path.resolve(import.meta.dirname, "../team/folder-program.ts")],
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  fs.symlinkSync(path.resolve(import.meta.dirname, "../../node_modules"), path.join(outdir, "node_modules"));
  program = path.join(outdir, "folder-program.mjs");
});

const PEOPLE = ["ann", "eve"];
const memory = (name: string, lines: readonly string[]) =>
  `---\nname: ${name}\ndescription: d\ntype: project\n---\n\n# Of ann\n\n${lines.filter((line) => line.includes("ann")).join("\n")}\n\n# Of eve\n\n${lines.filter((line) => line.includes("eve")).join("\n")}\n`;

function write(folder: string, file: string, ...lines: string[]): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, file), memory(file, lines));
}

function readAll(folder: string): string {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".md") && !name.startsWith("MEMORY"));
  return files.map((file) => `${file}\n${fs.readFileSync(path.join(folder, file), "utf8")}`).join("\n");
}

async function sync(top: string, who: string): Promise<void> {
  const clock = { now: new Date() };
  const remote = openDiskRemote({ folder: path.join(top, "shared"), who, now: () => new Date() });
  await syncDirectory({ directory: directoryAt(path.join(top, who), clock), remote, who, findSecrets: () => [] });
}

/** Ann is about to sync: a memory that eve has made, too; one that both went on with; eve's changes; and what eve has removed. */
async function makeTeam(): Promise<string> {
  const top = makeTemporary("cut-team", "memory");
  const [ann, eve] = PEOPLE.map((name) => path.join(top, name)) as [string, string];
  for (const file of ["merged.md", "pulled.md", "removed.md"]) write(ann, file, `ann had ${file}`);
  await sync(top, "ann");
  await sync(top, "eve");
  for (const file of ["merged.md", "pulled.md"]) write(eve, file, `ann had ${file}`, `eve goes on in ${file}`);
  write(eve, "both.md", "eve made both.md");
  await directoryAt(eve, { now: new Date() }).change((pinned) =>
    pinned.apply({ action: "forget", reason: "", writes: new Map([["removed.md", null]]) }),
  );
  await sync(top, "eve");
  write(ann, "merged.md", "ann had merged.md", "ann goes on in merged.md");
  write(ann, "both.md", "ann made both.md");
  write(ann, "new.md", "ann made new.md");
  return top;
}

const ANNS = ["had merged", "goes on in merged", "had pulled", "made both", "made new"].map((line) => `ann ${line}`);
const EVES = ["goes on in merged", "goes on in pulled", "made both"].map((line) => `eve ${line}`);

/** As a person goes on in an editor, who does not know that a sync was cut off. */
function goOn(folder: string, file: string): string {
  const target = path.join(folder, file);
  const line = `ann goes on after the cut in ${file}`;
  fs.writeFileSync(target, fs.readFileSync(target, "utf8").replace("# Of ann\n", `# Of ann\n\n${line}\n`));
  return line;
}

describe.each([
  ["at once", []],
  ["after an edit of one file", ["both.md"]],
  ["after edits of three", ["both.md", "merged.md", "pulled.md"]],
])("a sync that is cut off, and the next one %s", (_, edited) => {
  it("loses and hides nothing, wherever it is cut", async () => {
    const start = await makeTeam();
    const problems: string[] = [];
    let cuts = 0;
    for (let nth = 1; ; nth++) {
      const top = makeTemporary("cut-copy", "memory");
      fs.cpSync(start, top, { recursive: true, preserveTimestamps: true });
      const run = (cutAt: number) => {
        const env = { ...process.env, CUT_AT: String(cutAt) };
        const args = [program, path.join(top, "ann"), path.join(top, "shared"), "ann"];
        return spawnSync(process.execPath, args, { env, encoding: "utf8" });
      };
      const { signal, status, stderr } = run(nth);
      if (signal !== "SIGKILL") {
        expect(status, stderr).toBe(0);
        break;
      }
      cuts++;
      const anns = [...ANNS];
      const missing = (when: string, who: string, lines: readonly string[]) => {
        const here = readAll(path.join(top, who));
        for (const line of lines)
          if (!here.includes(line)) problems.push(`cut ${nth}, ${when}: ${who} has no "${line}"`);
      };
      missing("then", "ann", anns);
      anns.push(...edited.map((file) => goOn(path.join(top, "ann"), file)));
      // And again, in the first steps of the next one: that is where it settles what was left.
      if (edited.length === 0) run(1 + (nth % 8));
      missing("cut again", "ann", anns);
      for (const round of ["first", "second", "third"]) {
        for (const who of PEOPLE) {
          await sync(top, who);
          missing(`after the ${round} sync of ${who}`, who, who === "ann" ? anns : EVES);
        }
        // Whoever saves takes the lock, and settles what was cut off.
        for (const who of PEOPLE) await directoryAt(path.join(top, who), { now: new Date() }).change(() => {});
      }
      for (const who of PEOPLE) missing("in the end", who, [...anns, ...EVES]);
      fs.rmSync(top, { recursive: true, force: true });
    }
    expect(problems).toEqual([]);
    expect(cuts).toBeGreaterThan(30);
  });
});
