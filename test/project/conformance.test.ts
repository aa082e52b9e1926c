/** Memory directories as Claude Code was seen to choose them; runs where the recorded cases are at hand. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { locate } from "../../src/project/locate.ts";
import { findProject } from "../../src/project/root.ts";

const conformance = fileURLToPath(new URL("../../../shared/conformance", import.meta.url));
const makeCase = path.join(conformance, "make-case.mjs");

interface Recorded {
  case: Record<string, unknown> & { name: string; nonRoot?: boolean };
  expect: { memory: { dir: string | null } };
}

/** C22: recorded with permissions bypassed; here the user must first approve a directory outside the repository. */
const NEEDS_APPROVAL = new Set(["auto-memory-directory-project-setting", "auto-memory-directory-local-setting"]);

/** Cases in which something other than plain instruction files differs from the default. */
const KEYS = ["settings", "env", "cwd", "worktree", "gitInit", "layout", "args"];

function listCases(): Recorded[] {
  if (!fs.existsSync(makeCase)) return [];
  return fs
    .readdirSync(path.join(conformance, "dev"))
    .filter((name) => name.endsWith(".json") && name !== "slug-vectors.json")
    .map((name): Recorded => JSON.parse(fs.readFileSync(path.join(conformance, "dev", name), "utf8")))
    .filter((recorded) => !recorded.case.nonRoot && KEYS.some((key) => recorded.case[key] !== undefined));
}

describe.skipIf(!fs.existsSync(makeCase))("C1 C2 C21 the client's choice", async () => {
  const { materialise, dispose, expand } = fs.existsSync(makeCase) ? await import(pathToFileURL(makeCase).href) : {};
  it.each(listCases().map((recorded) => [recorded.case.name, recorded] as const))("%s", (name, recorded) => {
    const made = materialise(recorded.case);
    try {
      const project = findProject(made.cwd);
      if (NEEDS_APPROVAL.has(name)) {
        const trusted = { [project.root]: path.join(made.root, "mem") };
        fs.mkdirSync(path.join(made.dirs.HOME, ".claude"), { recursive: true });
        fs.writeFileSync(path.join(made.dirs.HOME, ".claude/memdir.json"), JSON.stringify({ trusted }));
      }
      const sources = made.args[made.args.indexOf("--setting-sources") + 1];
      const config = readConfig({
        cwd: made.cwd,
        env: { HOME: made.dirs.HOME, MEMDIR_MANAGED_DIR: made.dirs.MANAGED, ...made.env },
        projectRoot: project.worktreeRoot ?? project.cwd,
        settingSources: made.args.includes("--setting-sources") ? sources.split(",") : undefined,
      });
      const dir = config.disabled === null ? locate({ cwd: made.cwd, config }).dir : null;
      const expected = recorded.expect.memory.dir;
      expect(dir).toBe(expected === null ? null : expand(made, expected));
      expect(config.problems).toEqual([]);
    } finally {
      dispose(made);
    }
  });
});
