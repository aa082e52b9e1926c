import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { isWithin, realPath } from "../../src/disk/fence.ts";
import type { InstructionFile } from "../../src/instructions/file.ts";
import { openInstructions } from "../../src/instructions/instructions.ts";
import { openScope } from "../../src/instructions/load.ts";
import { findProject } from "../../src/project/locate.ts";
import { endsLater } from "../hang.ts";
import { makeWorld } from "../world.ts";

const { top: base } = makeWorld();
let runs = 0;

const DEEP = "project/cwd/d1/d2/d3/d4/d5/d6/d7/d8/d9";
const HOSTILE = ["päth ü.md", "a b.md", "x@y.md", "$(id).md", "-rf.md", "..md", "new\nline.md", "`q`.md", "[x](y).md"];
const PLACES = [
  ...["CLAUDE.md", "project/CLAUDE.md", "project/cwd/CLAUDE.md", "project/cwd/.claude/CLAUDE.md"],
  ...["project/cwd/CLAUDE.local.md", "project/AGENTS.md", "project/cwd/AGENTS.md", "project/cwd/GEMINI.md"],
  ...["project/cwd/.claude/rules/a.md", "project/cwd/.claude/rules/b/c.md", "project/.claude/rules/p.md"],
  ...["project/cwd/.cursor/rules/c.mdc", "project/cwd/a/CLAUDE.md", "project/cwd/a/.claude/rules/r.md"],
  ...["project/cwd/a/b/CLAUDE.md", "project/cwd/a/b/CLAUDE.local.md", `${DEEP}/CLAUDE.md`, `${DEEP}/i.md`],
  ...["home/.claude/CLAUDE.md", "home/.claude/rules/u.md", "home/notes.md", "home/.ssh/key.md"],
  ...["managed/CLAUDE.md", "managed/.claude/rules/m.md", "managed/more.md", "outside/o.md", "outside/CLAUDE.md"],
  ...["0", "1", "2", "3", "4", "5"].map((name) => `project/cwd/i${name}.md`),
  ...HOSTILE.map((name) => `project/cwd/${name}`),
];
const FOLDERS = [
  "project",
  "project/cwd",
  "project/cwd/a",
  "project/cwd/.claude",
  "outside",
  "home",
  "home/.claude",
  ".",
];

const target = fc.oneof(
  fc.constantFrom("i0.md", "i1.md", "i2.md", "i3.md", "i4.md", "i5.md", "./i0.md", "CLAUDE.md", "../CLAUDE.md"),
  fc.constantFrom(
    "../../outside/o.md",
    "../../../../../../../../etc/passwd",
    "/etc/hostname",
    "~/notes.md",
    "~/.ssh/key.md",
  ),
  fc.constantFrom("a", ".", "..", "/", "~", "~/", "a/", "/dev/zero", "/dev/stdin", `${"x".repeat(300)}.md`, "a\0b.md"),
  fc.constantFrom(...HOSTILE).map((name) => name.replaceAll(" ", "\\ ")),
  fc.constantFrom(...PLACES).map((place) => `TOP/${place}`),
  fc.string({ maxLength: 12 }),
);
const rulePaths = fc.oneof(
  fc.constantFrom("'**/*.ts'", "a/**", "[unclosed", "'{a,b}/{c,d}/*.ts'", "'!a/**'", `'${"{a,b}".repeat(12)}'`, "42"),
  fc.string({ maxLength: 10 }),
);
const file = fc.record({
  place: fc.constantFrom(...PLACES),
  paths: fc.option(rulePaths, { freq: 3 }),
  imports: fc.array(target, { maxLength: 5 }),
});
const link = fc.record({
  from: fc.oneof(
    fc.constantFrom(...PLACES),
    fc.constantFrom("project/cwd/a", "project/cwd/a/b", "project/cwd/.claude", "project/cwd/.claude/rules", "managed"),
    fc.constantFrom("project/cwd/.claude/rules/link.md", "project/cwd/.claude/rules/dir", "home/.claude/rules/dir"),
  ),
  to: fc.oneof(
    fc.constantFrom(...PLACES, ...FOLDERS).map((place) => `TOP/${place}`),
    fc.constantFrom("CLAUDE.md", ".", "..", "gone.md", "a.md", "/etc/hostname", "/dev/zero", "/proc/self/fd"),
  ),
});
const touched = fc.oneof(
  fc.constantFrom(
    "a/x.ts",
    "a/b/y.ts",
    "x.ts",
    "d1/d2/d3/d4/d5/d6/d7/d8/d9/z.ts",
    "../up.ts",
    "a/CLAUDE.md",
    "i0.md/x",
  ),
  fc.string({ maxLength: 10 }),
);
const tree = fc.record({
  files: fc.array(file, { maxLength: 25 }),
  links: fc.array(link, { maxLength: 5 }),
  touches: fc.array(touched, { maxLength: 5 }),
  approved: fc.boolean(),
  allAgents: fc.boolean(),
});
type Tree = typeof tree extends fc.Arbitrary<infer T> ? T : never;

/** What cannot be made because of what stands there already is left out. */
function attempt(make: () => void): void {
  try {
    make();
  } catch {}
}

function plant({ files, links, approved }: Tree) {
  // One folder deeper than the run: a link to `..` must not reach what other runs see.
  const top = path.join(base, `run${runs++}`, "top");
  const cwd = path.join(top, "project", "cwd");
  for (const folder of FOLDERS) fs.mkdirSync(path.join(top, folder), { recursive: true });
  fs.mkdirSync(path.join(top, "project", ".git"));
  // Nothing is made through a link that leads away: the disk outside stays as it is, and mkdir in /proc never ends.
  const isInside = (name: string) => isWithin(top, realPath(path.dirname(name)));
  for (const { from, to } of links) {
    if (!isInside(path.join(top, from))) continue;
    attempt(() => fs.mkdirSync(path.dirname(path.join(top, from)), { recursive: true }));
    attempt(() => fs.symlinkSync(to.replace("TOP", top), path.join(top, from)));
  }
  for (const { place, paths, imports } of files) {
    const name = path.join(top, place);
    if (!isInside(name)) continue;
    const head = paths === null ? "" : `---\npaths: ${paths}\n---\n`;
    const text = imports.map((each) => `see @${each.replace("TOP", top)} here`).join("\n");
    attempt(() => fs.mkdirSync(path.dirname(name), { recursive: true }));
    attempt(() => fs.writeFileSync(name, `${head}text of ${place}\n${text}\n`, { flag: "wx" }));
  }
  const project = path.join(top, "project");
  const home = path.join(top, "home");
  if (approved) {
    const text = JSON.stringify({ projects: { [project]: { hasClaudeMdExternalIncludesApproved: true } } });
    fs.writeFileSync(path.join(home, ".claude.json"), text);
  }
  const env = { HOME: home, MEMDIR_MANAGED_DIR: path.join(top, "managed") };
  return { top, cwd, config: readConfig({ cwd, env, projectRoot: project }) };
}

/** How many imports lead to a file. */
function hopsOf(each: InstructionFile, all: readonly InstructionFile[]): number {
  const chain = new Set<string>();
  for (let at: InstructionFile | undefined = each; at?.importedBy; ) {
    const importedBy: string = at.importedBy;
    if (chain.has(importedBy)) return Number.POSITIVE_INFINITY;
    chain.add(importedBy);
    at = all.find(({ path: name }) => name === importedBy);
  }
  return chain.size;
}

const FIXED = new Set([
  ...["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/AGENTS.md", "GEMINI.md"],
  ".github/copilot-instructions.md",
]);

/** Whether the rules let a file in that nobody approved. The user's own files may lead anywhere. */
function isAllowed({ path: name, source, importedBy }: InstructionFile, top: string, cwd: string): boolean {
  if (source === "user") return true;
  if (isWithin(cwd, realPath(name))) return true;
  if (importedBy !== null) return false;
  // The managed folder may be a link; rules are known by where they really lie.
  const managed = path.join(top, "managed");
  if (source === "managed") return isWithin(managed, name) || isWithin(realPath(managed), name);
  // A CLAUDE.md that is a link counts where it stands.
  const chain = [path.dirname(top), top, path.join(top, "project"), cwd];
  const isFixed = chain.some((folder) => FIXED.has(path.relative(folder, name)));
  const isRule = chain.some((folder) => isWithin(path.join(folder, ".claude", "rules"), realPath(name)));
  const isNested = isWithin(cwd, name) && [...FIXED].some((fixed) => name.endsWith(`/${fixed}`));
  return isFixed || isRule || isNested;
}

describe("any tree of instruction files", () => {
  it(
    "B0.5 B0.13 B0.18 B0.19 C38: loads each file once, nothing from outside, four hops deep, without an error",
    async () => {
      const property = fc.asyncProperty(tree, async (grown) => {
        const { top, cwd, config } = plant(grown);
        try {
          const instructions = openInstructions(openScope(findProject(cwd), config, { allAgents: grown.allAgents }));
          const start = await instructions.load();
          const reals = start.map((each) => realPath(each.path));
          expect(new Set(reals).size).toBe(reals.length);
          const all = [...start];
          for (const name of grown.touches) all.push(...(await instructions.touch(name)));
          for (const name of grown.touches) expect(await instructions.touch(name)).toEqual([]);
          await instructions.touchCommand(`cat ${grown.touches.join(" ")}`);
          const skipped = await instructions.skipped();

          expect(new Set(all.map((each) => each.path)).size).toBe(all.length);
          for (const each of all) {
            expect(hopsOf(each, all), each.path).toBeLessThanOrEqual(4);
            if (!grown.approved) expect([each.path, isAllowed(each, top, cwd)]).toEqual([each.path, true]);
          }
          for (const { path: name, reason } of skipped) expect([name, reason !== ""]).toEqual([name, true]);
          // Nothing depends on what was touched before, or on the order in which the disk lists names.
          expect(
            await openInstructions(openScope(findProject(cwd), config, { allAgents: grown.allAgents })).load(),
          ).toEqual(start);
        } finally {
          fs.rmSync(path.dirname(top), { recursive: true, force: true });
        }
      });
      await endsLater(() => fc.assert(property, { numRuns: 150 }), 10 * 60_000);
    },
    11 * 60_000,
  );

  it("B0.18 C38: many imports of each other end", async () => {
    const { top, cwd, config } = plant({ files: [], links: [], touches: [], approved: false, allAgents: false });
    const names = Array.from({ length: 25 }, (_, i) => `n${i}.md`);
    const all = names.map((name) => `@${name}`).join(" ");
    for (const name of [...names, "CLAUDE.md"]) fs.writeFileSync(path.join(cwd, name), `${name} ${all}`);
    const loaded = await endsLater(() => openInstructions(openScope(findProject(cwd), config)).load());
    // The client goes depth first: what lies at the fifth hop comes in again from a file nearer to the start.
    expect(loaded).toHaveLength(26);
    fs.rmSync(path.dirname(top), { recursive: true, force: true });
  });

  it("B0.19: a touch in a path of 2,000 folders that are not there ends", async () => {
    const { top, cwd, config } = plant({ files: [], links: [], touches: [], approved: false, allAgents: false });
    const instructions = openInstructions(openScope(findProject(cwd), config));
    expect(await endsLater(() => instructions.touch(`${"d/".repeat(2000)}x.ts`))).toEqual([]);
    fs.rmSync(path.dirname(top), { recursive: true, force: true });
  });
});
