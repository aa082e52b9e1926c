/** `memdir recall` and `memdir search` as a person and as a program call them. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { findModelDir } from "../../src/meaning/meaning.ts";
import { until } from "../until.ts";
import { expectError, openSandbox, type Sandbox } from "./run.ts";

const ROW_KEYS = [
  "file",
  "path",
  "scope",
  "type",
  "name",
  "description",
  "modified",
  "ageDays",
  "age",
  "bytes",
  "problems",
];

interface Recalled {
  file: string;
  path: string;
  score: number;
  why: string[];
  header: string;
  content: string;
}

/** Without the model of meaning unless a test is about it: loading it takes longer than the test. */
function openBox(): Sandbox {
  const box = openSandbox();
  box.env.MEMDIR_MEANING = "0";
  return box;
}

/** Files as a person or another program leaves them, which costs no start of the binary each. */
function put(box: Sandbox, file: string, fields: Record<string, string>, body: string): void {
  const head = Object.entries({ name: file.replace(/\.md$/, ""), type: "project", ...fields });
  fs.mkdirSync(box.dir(), { recursive: true });
  const text = head.map(([key, value]) => `${key}: ${value}\n`).join("");
  fs.writeFileSync(path.join(box.dir(), file), `---\n${text}---\n\n${body}\n`);
}

function stock(box: Sandbox): void {
  put(
    box,
    "project_deploys.md",
    { description: "Deploys go through staging" },
    "Smoke tests on staging, then production.",
  );
  put(
    box,
    "project_rollback.md",
    { description: "Rolling back a deploy" },
    "Smoke tests again, then the previous image.",
  );
  put(box, "user_editor.md", { description: "Prefers Vim", type: "user" }, "Vim key bindings everywhere.");
  put(
    box,
    "reference_tracker.md",
    { description: "Where bugs are kept", type: "reference" },
    "Linear, project INGEST.",
  );
}

const PROMPT = "which smoke tests run on staging when the deploy goes to production?";

describe("recall", () => {
  let box: Sandbox;
  beforeAll(() => {
    box = openBox();
    stock(box);
  });
  const files = (answer: { memories: Recalled[] }) => answer.memories.map(({ file }) => file);

  test("--json keeps the promise of spec/cli.md, field by field (B6.4, B6.10, B11.4)", async () => {
    const answer = await box.json(["recall", PROMPT]);
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(["memories", "considered", "method", "tookMs"]));
    expect(answer).toMatchObject({ considered: 4, method: "lexical", tookMs: expect.any(Number) });
    const [first] = answer.memories;
    expect(Object.keys(first)).toEqual(expect.arrayContaining([...ROW_KEYS, "score", "why", "header", "content"]));
    const file = path.join(box.dir(), "project_deploys.md");
    expect(first).toMatchObject({
      file: "project_deploys.md",
      path: file,
      scope: "project",
      type: "project",
      header: `Memory (saved today): ${file}:`,
      content: fs.readFileSync(file, "utf8"),
    });
    expect(first.score).toBeGreaterThan(0);
    expect(first.why[0]).toMatch(/^words: .*staging/);
    expect(first.why).toContain("age: today");
    expect(files(answer)).not.toContain("user_editor.md");
  });

  test("a word keeps its last letter in the bundle, as it does in the library", async () => {
    const own = openBox();
    put(own, "project_cpu.md", { description: "Limits" }, "Four cpu a pod.");
    put(own, "project_cp.md", { description: "Copies" }, "Copy with cp, not rsync.");
    expect(files(await own.json(["recall", "cpu", "--all"]))).toEqual(["project_cpu.md"]);
  });

  test("for people: type, name, file, description and the reasons of each, then the count", async () => {
    const ran = await box.run(["recall", PROMPT]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    const lines = ran.out.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^\[project\] project_deploys project_deploys\.md {2}\d+\.\d\d$/);
    expect(lines[1]).toBe("    Deploys go through staging");
    expect(lines[2]).toMatch(/^ {4}words: /);
    expect(lines.at(-1)).toMatch(/^\d recalled, of 4 memories \(lexical, \d+ ms\)$/);
  });

  test("the prompt may be given as words, and quoted or not is the same", async () => {
    const [quoted, plain] = await Promise.all([
      box.json(["recall", PROMPT]),
      box.json(["recall", ...PROMPT.split(" ")]),
    ]);
    expect(files(plain)).toEqual(files(quoted));
  });

  test("a prompt that needs no memory gets none, and that is no failure", async () => {
    const [human, json] = await Promise.all([
      box.run(["recall", "write a haiku about autumn rain"]),
      box.json(["recall", "write a haiku about autumn rain"]),
    ]);
    expect(human.out).toMatch(/^Nothing that clearly helps, of 4 memories/);
    expect(human.code).toBe(0);
    expect(json.memories).toEqual([]);
  });

  test("--limit, --exclude by file, stem and path, --all, --no-model", async () => {
    const stem = ["--exclude", "project_deploys", "--exclude", path.join(box.dir(), "project_rollback.md")];
    const [one, none, without, neither, all, offline] = await Promise.all([
      box.json(["recall", PROMPT, "--limit", "1"]),
      box.run(["recall", PROMPT, "--limit", "0"]),
      box.json(["recall", PROMPT, "--all", "--exclude", "project_deploys.md"]),
      box.json(["recall", PROMPT, "--all", ...stem]),
      box.json(["recall", `${PROMPT} in Vim, or Linear`, "--all"]),
      box.json(["recall", PROMPT, "--no-model"]),
    ]);
    expect(files(one)).toEqual(["project_deploys.md"]);
    expectError(none, 2, /--limit must be a whole number, 1 or more/);
    expect(files(without)).not.toContain("project_deploys.md");
    expect(files(without)).toContain("project_rollback.md");
    expect(files(neither)).toEqual([]);
    expect(files(all).sort()).toEqual([
      "project_deploys.md",
      "project_rollback.md",
      "reference_tracker.md",
      "user_editor.md",
    ]);
    expect(offline.method).toBe("lexical");
    expect(files(offline)[0]).toBe("project_deploys.md");
  });

  test.each([
    ["--limit", "many"],
    ["--limit", "1.5"],
    ["--max-bytes", "4k"],
    ["--max-bytes", "1234567890"],
  ])("%s %s is a mistake that is named (exit 2)", async (option, value) => {
    expectError(
      await box.run(["recall", PROMPT, option, value]),
      2,
      new RegExp(`${option} must be a whole number(, 1 or more)?, not "${value}"`),
    );
  });

  test("a negative number and no prompt at all: exit 2", async () => {
    const [negative, missing] = await Promise.all([box.run(["recall", PROMPT, "--limit=-1"]), box.run(["recall"])]);
    expectError(negative, 2, /--limit must be a whole number, 1 or more, not "-1"/);
    expectError(missing, 2, /PROMPT|recall/);
  });

  test("an empty prompt, one word, only emoji, an option that looks like one: answered, never an error", async () => {
    const prompts = ["", "deploy", "🎉🎉", "\u001b[31m", "?!", "--limit", "x".repeat(100_000)];
    for (const prompt of prompts) {
      const { code, out, err } = await box.run(["recall", "--json", "--", prompt]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(JSON.parse(out)).toMatchObject({ memories: expect.any(Array), considered: 4 });
    }
  });

  test("an empty store", async () => {
    const empty = openBox();
    const [human, json] = await Promise.all([empty.run(["recall", PROMPT]), empty.json(["recall", PROMPT])]);
    expect(human.out).toMatch(/^Nothing that clearly helps, of 0 memories/);
    expect(json).toMatchObject({ memories: [], considered: 0 });
    expect(fs.existsSync(empty.dir())).toBe(false);
  });

  test("what is unsure is shown with --all only, and says so", async () => {
    const prompt = ["recall", "rewrite parser, colours, fonts, menus and icons before production"];
    const [sure, all] = await Promise.all([box.json(prompt), box.json([...prompt, "--all"])]);
    expect(sure.memories).toEqual([]);
    expect(all.memories[0]).toMatchObject({ file: "project_deploys.md" });
    expect(all.memories[0].why).toContain("low confidence");
  });
});

describe("recall --max-bytes", () => {
  let box: Sandbox;
  // What every memory holds tells none apart: without --all none would be sure enough.
  const all = ["recall", PROMPT, "--all"];
  beforeAll(() => {
    box = openBox();
    for (let i = 0; i < 6; i++) {
      const body = `Smoke tests on staging, step ${i}.\n\n${"Prüfe die Ausgabe 🎉. ".repeat(150)}`;
      put(box, `project_step_${i}.md`, { description: `Deploy to production, step ${i}` }, body);
    }
  });

  test.each([0, 1, 300, 700, 2_000, 5_000, 9_999, 100_000])(
    "%i: headers and contents together never exceed it; what did not fit is named (B6.9, B6.13)",
    async (maxBytes) => {
      const { memories, leftOut } = await box.json([...all, "--max-bytes", String(maxBytes)]);
      const bytes = memories.map(({ header, content }: Recalled) => Buffer.byteLength(header + content));
      expect(bytes.reduce((sum: number, n: number) => sum + n, 0)).toBeLessThanOrEqual(maxBytes);
      for (const { content } of memories) expect(Buffer.byteLength(content)).toBeLessThanOrEqual(4096);
      for (const { content } of memories) expect(content).not.toContain("\ufffd");
      expect(memories.length + leftOut.length).toBe(5);
    },
  );

  test("for people: the names of what did not fit", async () => {
    const { out } = await box.run([...all, "--max-bytes", "5000"]);
    expect(out).toMatch(/^Did not fit: project_step_\d/m);
  });
});

describe("save --when, --link and --supersedes", () => {
  test("show has them, recall explains by them (C14)", async () => {
    const box = openBox();
    const save = (name: string, extra: string[], body: string) => box.save(name, ["--type", "project", ...extra], body);
    await save("npm registry", [], "The registry for packages is verdaccio, behind the proxy.");
    await save(
      "new registry",
      ["--supersedes", "npm registry"],
      "The registry for packages is Artifactory, behind the proxy.",
    );
    await save(
      "vpn access",
      ["--link", "new registry", "--when", "npm install hangs forever"],
      "Ask the platform group.",
    );
    const [shown, successor, byCue, byWords] = await Promise.all([
      box.json(["show", "vpn access"]),
      box.json(["show", "new registry"]),
      box.json(["recall", "npm install hangs forever on my laptop"]),
      box.json(["recall", "which registry for packages behind the proxy?", "--all"]),
    ]);
    expect(shown).toMatchObject({ when: ["npm install hangs forever"], metadata: { links: ["new registry"] } });
    expect(successor.metadata).toMatchObject({ supersedes: ["npm registry"] });
    expect(byCue.memories[0]).toMatchObject({ name: "vpn access" });
    expect(byCue.memories[0].why[0]).toMatch(/^words: .*hangs/);
    expect(byCue.memories[0].content).not.toContain("hangs forever");
    const names = byWords.memories.map(({ name }: { name: string }) => name);
    expect(names.indexOf("new registry")).toBeLessThan(names.indexOf("npm registry"));
    const why = (name: string) => byWords.memories.find((memory: { name: string }) => memory.name === name).why;
    expect(why("npm registry")).toContain("superseded by project_new_registry.md");
    expect(why("vpn access")).toContain("links: a memory that it belongs with has the words");
  });
});

describe("search", () => {
  test("deploying finds deploys; --json has the row, the score and the line", async () => {
    const box = openBox();
    stock(box);
    const [hits, human] = await Promise.all([box.json(["search", "deploying"]), box.run(["search", "deploying"])]);
    expect(hits.map(({ file }: Recalled) => file).sort()).toEqual(["project_deploys.md", "project_rollback.md"]);
    for (const hit of hits) {
      expect(Object.keys(hit)).toEqual(expect.arrayContaining([...ROW_KEYS, "score", "line"]));
      expect(hit.score).toBeGreaterThan(0);
      expect(hit.score).toBeLessThanOrEqual(1);
      expect(hit.line).toMatch(/deploy/i);
    }
    expect(human.out).toContain("[project] project_deploys project_deploys.md\n    Deploys go through staging\n");
  });

  test("a type that the file does not state is not shown, as in a list", async () => {
    const box = openBox();
    stock(box);
    put(box, "playback.md", { type: "" }, "Fade out before the transport stops.");
    for (const call of [["search", "transport"], ["recall", "how do I stop the transport, with a fade out?"], ["list"]])
      expect((await box.run(call)).out).toMatch(/^\s*playback\b/m);
  });
});

describe("with the model of meaning", () => {
  test.skipIf(findModelDir() === null)("the method is hybrid and the nearest text is told", async () => {
    const box = openSandbox();
    box.env.MEMDIR_MEANING = "1";
    put(
      box,
      "feedback_database.md",
      { type: "feedback" },
      "Integration tests talk to a real Postgres, never to a mock.",
    );
    put(box, "user_editor.md", { type: "user" }, "Vim key bindings everywhere.");
    put(box, "project_release.md", {}, "Releases are cut on Tuesdays.");
    // A hurried call answers by words; any other makes the missing vectors first, as many as half a second allows.
    const first = await box.json(["recall", "--no-wait", "may I stub out the SQL server in this spec?", "--all"]);
    expect([first.method, first.warnings.length]).toEqual(["lexical", 1]);
    const answer = await until(async () => {
      const next = await box.json(["recall", "may I stub out the SQL server in this spec?", "--all"]);
      return next.warnings.length === 0 && next;
    });
    expect(answer.method).toBe("hybrid");
    expect(answer.memories[0].file).toBe("feedback_database.md");
    expect(answer.memories[0].why.join("\n")).toMatch(/^meaning: its text \(0\.\d\d\)$/m);
  });
});
