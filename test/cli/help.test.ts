/** Help that cannot lie: every option is listed and every example runs. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { COMMON, ownOptions } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/run.ts";
import type { Field } from "../../src/verb.ts";
import { BINARY, openSandbox, type Ran, type Sandbox, start } from "./run.ts";

/** They need a server, a repository or a browser: their own tests and the quick start of docs/team.md run them. */
const NEEDS_OTHERS = new Set(["sync", "join", "team", "ui", "promote", "demote", "merge-driver"]);

let box: Sandbox;
beforeAll(async () => {
  box = openSandbox();
  fs.mkdirSync(box.at("bin"));
  fs.writeFileSync(box.at("bin", "memdir"), `#!/bin/sh\nexec "${process.execPath}" "${BINARY}" "$@"\n`, {
    mode: 0o755,
  });
  fs.writeFileSync(box.at("bin", "nano"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  await box.run(["save", "--type", "feedback", "--name", "use pnpm", "--description", "Package manager"], {
    input: "x",
  });
});

const shell = (script: string, input = "") =>
  start("bash", ["-c", script], input, box.cwd, { ...box.env, PATH: `${box.at("bin")}:${box.env.PATH}` });

/** The commands with their definitions, as the program loads them. */
const LOADED = await Promise.all(COMMANDS.map(async (row) => ({ ...row, definition: await row.load() })));

describe("memdir --help", () => {
  test("is the same as -h and help, and fits one screen of 80 columns", async () => {
    const [long, short, word] = await Promise.all([box.run(["--help"]), box.run(["-h"]), box.run(["help"])]);
    expect(long).toEqual(short);
    expect(long).toEqual(word);
    expect(long).toMatchObject({ code: 0, err: "" });
    expect(long.out.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    expectNarrow(long, 80);
    for (const { name, group } of COMMANDS)
      if (!["everyday", "plumbing"].includes(group)) expect(long.out).toMatch(new RegExp(`\\b${name}\\b`));
    for (const { name } of COMMANDS.filter(({ group }) => group === "plumbing")) expect(long.out).not.toContain(name);
  });

  test("help --all lists every command in its group, the options and the exit codes", async () => {
    const { out } = await box.run(["help", "--all"]);
    for (const { name, summary } of COMMANDS) expect(out).toMatch(new RegExp(`^ {2}${name} +${quoted(summary)}$`, "m"));
    for (const name of Object.keys(COMMON)) expect(out).toContain(`--${name}`);
    expect(out).toContain("Exit codes: 0 done, 1");
  });

  test.each([80, 40])("every text fits %i columns", async (columns) => {
    const calls = [["--help"], ["help", "--all"], ...COMMANDS.map(({ name }) => ["help", name])];
    const texts: string[] = [];
    for (const call of calls) {
      const ran = await box.run(call, { env: { COLUMNS: String(columns) } });
      expectNarrow(ran, columns);
      texts.push(`$ memdir ${call.join(" ")}\n${ran.out}`);
    }
    await expect(texts.join("\n")).toMatchFileSnapshot(`__snapshots__/help-${columns}.txt`);
  });
});

test("--version", async () => {
  const { version } = JSON.parse(fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const all = await Promise.all([box.run(["--version"]), box.run(["-V"])]);
  for (const ran of all) expect(ran).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

describe("each command", () => {
  test.each(LOADED.map((command) => [command.name, command] as const))(
    "%s: help lists its options and its examples",
    async (name, { definition }) => {
      const wide = { env: { COLUMNS: "100" } };
      const [flag, word] = await Promise.all([box.run([name, "--help"], wide), box.run(["help", name], wide)]);
      expect(flag).toEqual(word);
      expect(flag).toMatchObject({ code: 0, err: "" });
      for (const [option, { value }] of Object.entries<Field>({ ...ownOptions(definition), ...COMMON }))
        expect(flag.out).toMatch(new RegExp(`--${option}${value ? ` ${value}` : ""} +\\S`, "m"));
      expect(flag.out).toMatch(/^usage: memdir/m);
      expect(definition.examples.length).toBeGreaterThan(0);
      for (const example of definition.examples) expect(flag.out.replace(/\s+/g, " ")).toContain(example);
    },
  );

  const alone = LOADED.filter(({ name }) => !NEEDS_OTHERS.has(name)).flatMap(({ name, definition }) =>
    definition.examples.map((example) => [name, example] as const),
  );
  test.each(alone)("%s: its example runs: %s", async (name, example) => {
    await box.run(["save", "--type", "feedback", "--name", "use pnpm", "--description", "Package manager"], {
      input: "x",
    });
    fs.writeFileSync(path.join(box.cwd, "runbook.md"), "Call the person on duty.\n");
    // `undo 17` stands for any entry: the one that is there is put in its place.
    const id = name === "undo" ? ((await box.json(["history"])).at(-1).id as string) : "";
    if (name === "chat" || name === "rewind") putSession();
    if (name === "extract") fs.copyFileSync(putSession(), path.join(box.cwd, "session.jsonl"));
    const whole = /\bmemdir\b/.test(example) ? example : `EDITOR=nano memdir ${example}`;
    const ran = await shell(whole.replace("undo 17", `undo ${id}`));
    // No model is configured here.
    if (name !== "chat") expect(ran.err).not.toMatch(/^memdir: (?!note|warning)/m);
    const code = name === "chat" ? 2 : name === "lint" || name === "check" ? 1 : 0;
    expect(ran.code).toBe(code);
  });
});

/** What is typed, as bash takes it apart, and all that is offered for its last word. */
const COMPLETED = [
  ["list --type ", "user feedback project reference"],
  ["save --type = fe", "feedback"],
  ["ls --type =", "user feedback project reference"],
  ["--json sh", "show"],
  ["--scope team --js", "--json"],
  ["--cwd = . renam", "rename"],
  ["--cwd . rm reference_gr", "reference_grafana"],
  ["cat reference_gr", "reference_grafana"],
  ["mv reference_gr", "reference_grafana"],
  ["--cwd ../other show reference_", "reference_loki"],
  ["--cwd ~/../other show reference_", "reference_loki"],
  ["show --cwd = ../other reference_", "reference_loki"],
  // zsh does not split at =.
  ["show --cwd=../other reference_", "reference_loki"],
  ["--memory-dir ../apart --scope project rm p", "project_apart"],
  ["rot --al", "--all"],
  ["prefe", ""],
  ["help ren", "rename"],
  ["list --scope te", "team"],
  ["save --link reference_g", "reference_grafana"],
  ["completion z", "zsh"],
  // Files are bash's own.
  ["save --file ", ""],
] as const;

describe("completion", () => {
  test("bash: the script is sound and completes commands and options (syntax checked with bash -n)", async () => {
    const script = await box.run(["completion", "bash"]);
    expect(script).toMatchObject({ code: 0, err: "" });
    const file = box.put("completion.bash", script.out);
    expect(await start("bash", ["-n", file], "", box.cwd, box.env)).toEqual({ code: 0, out: "", err: "" });
    const complete = (words: string[]) =>
      shell(
        `source "${file}"; COMP_WORDS=(${words.map((w) => `"${w}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _memdir; echo "\${COMPREPLY[@]}"`,
      );
    const [commands, options, common] = await Promise.all([
      complete(["memdir", "ren"]),
      complete(["memdir", "save", "--re"]),
      complete(["memdir", "list", "--"]),
    ]);
    expect(commands.out).toBe("rename\n");
    // A memory's file may be called anything: nothing of its name is run.
    const listing = "memdir() { echo '$(touch pwned)'; }; COMP_WORDS=(memdir show ''); COMP_CWORD=2";
    const hostile = await shell(`source "${file}"; ${listing}; _memdir; printf "%s\\n" "\${COMPREPLY[@]}"`);
    expect(hostile.out).toContain("\\$\\(touch\\ pwned\\)\n");
    expect(fs.existsSync(path.join(box.cwd, "pwned"))).toBe(false);
    // The examples of the help above have saved memories of their own.
    await box.run(["save", "--type", "reference", "--name", "grafana"], { input: "Dashboards are in Grafana." });
    const other = box.repository("other");
    await box.run(["save", "--type", "reference", "--name", "loki"], { input: "Logs are in Loki.", cwd: other });
    await box.run(["save", "--type", "project", "--name", "apart", "--memory-dir", "../apart"], {
      input: "Kept apart.",
    });
    for (const [words, expected] of COMPLETED) {
      const { out } = await complete(["memdir", ...words.split(" ")]);
      expect([words, out.trim()]).toEqual([words, expected]);
    }
    expect(options.out.trim().split(" ").sort()).toEqual(["--reason", "--redact"]);
    expect(common.out.trim().split(" ").sort()).toEqual([
      "--by",
      "--cue",
      "--cwd",
      "--help",
      "--json",
      "--memory-dir",
      "--scope",
      "--since",
      "--type",
      "--until",
    ]);
  });

  test("zsh: loads bash's completion", async () => {
    const script = await box.run(["completion", "zsh"]);
    expect(script.out).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n/);
    const file = box.put("completion.zsh", script.out.split("\n").slice(1).join("\n"));
    expect((await start("bash", ["-n", file], "", box.cwd, box.env)).code).toBe(0);
  });

  test("fish: one line per command and option, quotes closed", async () => {
    const script = await box.run(["completion", "fish"]);
    const inList = 'complete -c memdir -n "__fish_seen_subcommand_from list ls"';
    expect(script.out).toContain(`${inList} -l type -x -a "user feedback project reference" -d `);
    expect(script.out).toContain(
      '"__fish_seen_subcommand_from rename mv" -f -a "(memdir completion names 2>/dev/null)"',
    );
    for (const { name, group } of COMMANDS) {
      const offer = `-n __fish_use_subcommand -a ${name} -d '`;
      expect([name, script.out.includes(offer)]).toEqual([name, group !== "plumbing"]);
    }
    for (const line of script.out.trimEnd().split("\n")) {
      expect(line).toMatch(
        /^complete -c memdir -n (?:"[^"]*"|\S+) (?:-f -a "[^"]+"|(?:-a|-l) [a-z-]+(?: -r| -x -a "[a-z -]+")? -d '(?:\\'|[^'])*')$/,
      );
    }
  });
});

function expectNarrow(ran: Ran, columns: number): void {
  for (const line of ran.out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
}

function quoted(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

test("the help is for people: nothing of it is made when a directory cannot be opened", async () => {
  const ran = await box.run(["save", "--help", "--memory-dir", "/"]);
  expect(ran.code).toBe(0);
  expect(fs.existsSync(path.join("/", "MEMORY.md"))).toBe(false);
});

/** A session with one prompt and its checkpoint. */
function putSession(): string {
  const sessionId = "3f2a0000-0000-4000-8000-000000000000";
  const uuid = "00000000-0000-4000-8000-000000000001";
  const timestamp = "2026-03-10T12:00:00.000Z";
  const lines = [
    { type: "user", uuid, parentUuid: null, sessionId, timestamp, message: { role: "user", content: "hello" } },
    {
      type: "file-history-snapshot",
      messageId: uuid,
      snapshot: { messageId: uuid, trackedFileBackups: {}, timestamp },
      isSnapshotUpdate: false,
    },
  ];
  const folder = path.relative(box.top, path.dirname(box.dir()));
  return box.put(path.join(folder, `${sessionId}.jsonl`), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
