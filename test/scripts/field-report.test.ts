/** The figures of docs/field-report.md: what is counted in a text, in a history, and in a small store. */

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  countDoubles,
  countIndex,
  hasHow,
  hasWhy,
  historyOf,
  languageOf,
  linksOf,
  logKindOf,
  quantiles,
} from "../../scripts/field/count.mjs";
import { figuresOf, formatTable, withoutForks } from "../../scripts/field/figures.mjs";
import { measureRepository, placeOf } from "../../scripts/field/store.mjs";
import { makeTemporary } from "../temporary.ts";

const LIBRARY = fileURLToPath(new URL("../../src/index.ts", import.meta.url));

describe("one memory", () => {
  it("takes quantiles that occur", () => {
    expect(quantiles([3, 1, 2])).toEqual([2, 3, 3, 3]);
    expect(quantiles([])).toEqual([null, null, null, null]);
  });

  it("recognises languages by script and stop words, whatever the code in it", () => {
    expect(languageOf("The release is made from main, and it must not be tagged by hand.")).toBe("English");
    expect(languageOf("Die Tests werden nicht auf dem Server gestartet, und das ist so gewollt.")).toBe("German");
    expect(languageOf("배포 전에 반드시 `npm run build` 를 실행한다")).toBe("Korean");
    expect(languageOf("デプロイの前にテストを実行する。理由は失敗が多いため")).toBe("Japanese");
    expect(languageOf("部署之前必须先运行测试 build")).toBe("Chinese");
    expect(languageOf("```\nthe and is are was\n```\nnpm")).toBe("undetermined");
  });

  it("finds a reason and how to apply it as a lead or a heading, not in a sentence", () => {
    expect(hasWhy("Use tabs.\n\n**Why:** the diff is smaller.")).toBe(true);
    expect(hasWhy("Use tabs. Nobody asked why.")).toBe(false);
    expect(hasWhy("## 为什么\n\n…")).toBe(true);
    expect(hasHow("**How to apply:** in new files")).toBe(true);
    expect(hasHow("This is how to apply for a job")).toBe(false);
  });

  it("reads links, but not those in code or to the web", () => {
    const text = "See [[deploy-steps|steps]], [a](./a.md#part), [web](https://example.org), `[[ -f x ]]`.";
    expect(linksOf(text)).toEqual({ wiki: ["deploy-steps"], markdown: ["./a.md"] });
  });

  it("calls dated records work logs", () => {
    expect(logKindOf("project_2026-05-01.md", "")).toBe("day in the name");
    expect(logKindOf("session_notes.md", "")).toBe("word in the name");
    expect(logKindOf("feedback_session_handling.md", "")).toBe(null);
    expect(logKindOf("catalog.md", "Decided on 2026-05-01.")).toBe(null);
    const entries = "- 2026-05-01: one\n- 2026-05-02: two\n## 2026-05-03\n";
    expect(logKindOf("project_import.md", entries)).toBe("dated entries");
  });

  it("counts pairs that say the same", () => {
    const long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";
    const head = "---\nname: x\n---\n";
    expect(countDoubles([`${head}${long}`, long, `${long} seventeen`, "something else"])).toEqual({
      exact: 1,
      near: 2,
    });
  });
});

describe("an index and a history", () => {
  it("counts what the index misses and what it names in vain", () => {
    const index = "# Memory\n- [A](a.md): first\n- ★ b.md\n- [Gone](gone.md)\n- [[c_d]]\n";
    const counted = countIndex(index, ["a.md", "b.md", "c-d.md", "sub/e.md"], (path: string) => path === "a.md");
    expect(counted).toMatchObject({ lines: 5, isOver: false, missing: 1, dangling: 1, longLines: 0 });
  });

  it("follows renames and counts changes after the first commit", () => {
    const log =
      "\x0110\n\nA\ta.md\nA\tb.md\n\x0120\n\nM\ta.md\n\x0130\n\nR100\ta.md\tc.md\n\x0140\n\nR090\tc.md\td.md\nD\tb.md\n";
    expect([...historyOf(log)]).toEqual([["d.md", { added: 10, edited: 40, edits: 2 }]]);
  });
});

describe("a store", () => {
  it("is found in the usual places first", () => {
    expect(placeOf(["memory/MEMORY.md", ".claude/memory/a.md"])).toBe(".claude/memory");
    expect(placeOf(["x/y/memory/MEMORY.md", "x/memory/MEMORY.md"])).toBe("x/memory");
    expect(placeOf(["MEMORY.md", "a.md"])).toBe("");
    expect(placeOf(["MEMORY.md", "a.ts", "b.ts", "c.ts"])).toBe(null);
  });

  it("is measured as of its newest commit, and left as it was", async () => {
    const root = makeTemporary("field-report");
    const git = (day: string, ...args: string[]) => commit(root, day, args);
    git("2026-05-01", "init", "-q");
    for (const n of [1, 2, 3, 4, 5]) write(root, `src/part-${n}.ts`, `export const value${n} = ${n};\n`);
    write(root, "src/server.ts", "export function startServer() {}\n");
    write(root, ".claude/memory/MEMORY.md", "- [Deploy](feedback_deploy.md): how\n- [Gone](gone.md)\n");
    write(
      root,
      ".claude/memory/feedback_deploy.md",
      memory("deploy", "feedback", "The server starts in `src/server.ts`.\n\n**Why:** it is."),
    );
    write(root, ".claude/memory/project_plan.md", memory("plan", "project", "See [[deploy]] and [[nowhere]]."));
    git("2026-05-01", "add", ".");
    git("2026-05-01", "commit", "-qm", "one");
    rmSync(join(root, "src/server.ts"));
    write(root, ".claude/memory/project_plan.md", memory("plan", "project", "See [[deploy]] and [[nowhere]]. Again."));
    git("2026-05-11", "add", ".");
    git("2026-05-11", "commit", "-qm", "two");

    const { store } = await measureRepository(root, LIBRARY);
    expect(store).toMatchObject({ place: ".claude/memory", storeCommits: 2, isShallow: false });
    const figures = figuresOf([
      { store, group: 1 },
      { store: null, group: 1 },
    ]);
    const figure = (name: string) => (figures as Record<string, { value: unknown }>)[name]?.value;
    expect(figure("memories")).toBe(2);
    expect(figure("type")).toEqual({ feedback: 1, project: 1 });
    expect(figure("with a Why, feedback")).toBe(1);
    expect(figure("dead [[wiki]] links")).toBe(1);
    expect(figure("age in days at the newest commit (median, p90, p99, max)")).toEqual([10, 10, 10, 10]);
    expect(figure("never edited")).toBe(1);
    expect(figure("memories that the index does not name")).toBe(1);
    expect(figure("index links to a missing file")).toBe(1);
    expect(figure("went after it was written, by kind")).toEqual({ "path gone": 1 });
    expect(formatTable(figures)).toContain("| memories | 2 |  |");
    expect(execFileSync("git", ["-C", root, "status", "--short"], { encoding: "utf8" })).toBe("");
  });

  it("is left out if it is a copy of one before it", () => {
    const made = (...digests: string[]) => ({ memories: digests.map((digest) => ({ digest })) });
    const stores = [made("a", "b", "c"), made("a", "b", "x", "y"), made("a", "p", "q", "r")];
    expect(withoutForks(stores)).toEqual([stores[0], stores[2]]);
  });
});

function memory(name: string, type: string, body: string): string {
  return `---\nname: ${name}\ndescription: About ${name}\ntype: ${type}\n---\n\n${body}\n`;
}

function write(root: string, file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function commit(root: string, day: string, args: string[]): void {
  const at = `${day}T12:00:00Z`;
  const who = {
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.org",
    GIT_COMMITTER_NAME: "A",
    GIT_COMMITTER_EMAIL: "a@example.org",
  };
  const env = { ...process.env, ...who, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at, GIT_CONFIG_GLOBAL: "/dev/null" };
  execFileSync("git", ["-C", root, ...args], { env, stdio: "ignore" });
}
