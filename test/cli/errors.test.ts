/** What goes wrong: one line that says what, which and how to fix it, and the exit codes 2 and 3. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { BINARY, expectError, openSandbox, type Sandbox, start } from "./run.ts";

let box: Sandbox;
beforeAll(async () => {
  box = openSandbox();
  await box.save("there");
  box.put("project/plain", "a file");
  box.put("project/foreign.json", { name: "shop", dependencies: {} });
  fs.mkdirSync(path.join(box.cwd, "empty"));
});

const SAVE = ["save", "--type", "user", "--name", "x"];

describe("bad input ends with 2", () => {
  const cases: [string, string[], RegExp][] = [
    ["an unknown command", ["frobnicate"], /there is no command "frobnicate".*memdir help --all/],
    ["a near miss", ["lists"], /did you mean "list"\?/],
    ["help for an unknown command", ["help", "frobnicate"], /there is no command "frobnicate"/],
    ["an unknown option", ["list", "--nope"], /there is no option --nope; see memdir list --help/],
    ["the beginning of an option", ["export", "--out", "x"], /no option --out \(did you mean --output\?\); see memdir/],
    [
      "an option before its command",
      ["--type", "user", "save", "x"],
      /no option --type; put the options of save after it, as in `memdir save --…`; see memdir save --help/,
    ],
    ["an option without its value", ["list", "--type"], /--type needs a value; see memdir list --help/],
    ["an option before another", ["list", "--type", "--cue", "x"], /--type needs a value; see memdir list --help/],
    ["a switch with a value", ["list", "--json=1"], /--json takes no value; see memdir list --help/],
    ["a missing argument", ["show"], /an argument is missing.*`memdir show NAME`/],
    ["an empty new name", ["rename", "there", ""], /^memdir: the name is empty: give one, such as "prefers tabs"$/m],
    ["one argument of two", ["rename", "there"], /`memdir rename NAME NEW`/],
    ["an argument too many", ["list", "extra"], /"extra" is one argument too many: the call is `memdir list`/],
    [
      "an unknown type to save",
      ["save", "--type", "note", "--name", "x"],
      /must be one of user, feedback, project, reference, not "note"/,
    ],
    [
      "an unknown type to list",
      ["list", "--type", "note"],
      /must be one of user, feedback, project, reference, not "note"/,
    ],
    ["no type", ["save", "--name", "x"], /there is nothing to save.*--file.*--description/],
    ["no name", ["save", "--type", "user"], /there is nothing to save.*--file.*--description/],
    ["an empty name", ["save", "--type", "user", "--name", "  "], /the name is empty/],
    ["no body", ["save", "--type", "user", "--name", "x"], /there is nothing to save.*--file.*--description/],
    ["a text and a file", ["save", "a text", "--file", "x.md"], /the text or --file, not both/],
    ["a body file that is not there", [...SAVE, "--file", "no.md"], /^memdir: --file no\.md: there is no such file$/m],
    ["a body file below a file", [...SAVE, "--file", "plain/no.md"], /--file plain\/no\.md: there is no such file/],
    ["no name of a file", [...SAVE, "--file", ""], /^memdir: --file needs the name of a file$/m],
    ["a folder as body file", [...SAVE, "--file", "."], /^memdir: --file \.: that is a directory; give a file$/m],
    ["a memory that is not there", ["show", "nothing at all"], /no memory is called "nothing at all"/],
    ["a memory that is nearly there", ["show", "their there"], /did you mean user_there\.md\?/],
    ["an entry that is not there", ["undo", "999"], /there is no change 999.*memdir history/],
    [
      "an entry that is not there in a scope",
      ["--scope", "user", "undo", "9"],
      /change 9: `memdir --scope user history`/,
    ],
    ["a memory that is not there in a scope", ["show", "x", "--scope", "user"], /: `memdir --scope user list` shows/],
    [
      "a memory that is not there elsewhere",
      ["show", "x", "--memory-dir", "./e"],
      /: `memdir --memory-dir \.\/e list` /,
    ],
    ["no number of an entry", ["undo", ""], /^memdir: "" is not the number of a change: `memdir history` lists them/m],
    ["a memory to undo", ["undo", "use pnpm"], /^memdir: "use pnpm" is not the number of a change/m],
    ["the history of what never was", ["history", "nothing at all"], /no memory is called "nothing at all"/],
    ["a file as directory", ["list", "--memory-dir", "plain"], /--memory-dir "plain": it is a file, not a directory/],
    [
      "JSON of another program",
      ["import", "json", "foreign.json"],
      /nothing was imported from .*foreign\.json: .*JSON of/,
    ],
    ["a folder without anything", ["import", "markdown", "empty"], /nothing was imported from .*empty: .*Markdown/],
    ["a source that is not there", ["import", "mem0", "no.json"], /no\.json is not there: check the path/],
    ["nothing to search for", ["search", " "], /give at least one word/],
    [
      "an unknown scope",
      ["list", "--scope", "galaxy"],
      /there is no scope "galaxy"; choose one of user, project, team/,
    ],
    ["an agent that is a path", ["list", "--scope", "agent:../x"], /cannot be used/],
    ["an unknown agent scope", ["list", "--scope", "agent:x@moon"], /there is no agent scope "moon"/],
    ["the root as directory", ["list", "--memory-dir", "/"], /--memory-dir "\/": .*; give a directory/],
    ["an empty --cwd", ["list", "--cwd", ""], /--cwd needs a directory/],
    ["a --cwd that does not exist", ["list", "--cwd", "/no/such/folder"], /\/no\/such\/folder/],
    ["days that are none", ["prune", "--older-than", "soon"], /--older-than must be a whole number, 1 or more/],
    ["feedback to prune", ["prune", "--type", "feedback"], /feedback is never pruned/],
    ["a shell without completion", ["completion", "tcsh"], /choose bash, zsh or fish/],
    ["two ways to settle", ["adopt", "--share", "--separate"], /give one of --separate, --share, --keep/],
    ["an added directory that is not there", ["context", "--add-dir", "/nope"], /--add-dir \/nope: there is no such/],
    ["an unknown option alone", ["--bogus"], /there is no option --bogus; see memdir --help$/m],
    ["a chat without a prompt", ["chat"], /^memdir: chat needs a prompt: memdir chat -p TEXT/],
    [
      "an unknown setting source",
      ["context", "--setting-sources", "moon"],
      /"moon" is not a source: use user, project, local/,
    ],
    ["a directory to adopt that is not there", ["adopt", "/no/such/memories"], /\/no\/such\/memories/],
  ];
  test.each(cases)("%s", async (_, args, message) => {
    expectError(await box.run(args), 2, message);
  });
});

describe("with --json", () => {
  test.each([
    ["usage", ["frobnicate", "--json"]],
    ["usage", ["list", "--nope", "--json"]],
    ["usage", ["--json", "list", "--type", "note"]],
    ["not-found", ["show", "nothing", "--json"]],
    ["not-found", ["undo", "999", "--json"]],
    ["usage", ["undo", "", "--json"]],
    ["outside", ["show", "../../etc/passwd", "--json"]],
  ])("%s: %j gives code and message on stderr and nothing on stdout", async (code, args) => {
    const ran = await box.run(args);
    expect(ran.out).toBe("");
    expect(JSON.parse(ran.err)).toEqual({ error: { code, message: expect.stringMatching(/\S/) } });
    expect(ran.err.trim().split("\n")).toHaveLength(1);
    expect(ran.code).toBe(2);
  });
});

describe("the environment's failures end with 3", () => {
  test.skipIf(!fs.existsSync("/dev/full"))("an output that is full", async () => {
    const list = (more: string) =>
      start("sh", ["-c", `"$0" "$1" list ${more} > /dev/full`, process.execPath, BINARY], "", box.cwd, box.env);
    expectError(await list(""), 3, /cannot write standard output: .*ENOSPC/);
    expect(JSON.parse((await list("--json")).err).error.code).toBe("disk");
  });

  test("a file where the directory belongs", async () => {
    const blocked = box.put("blocked", "a file");
    const ran = await box.run(["save", "--type", "user", "--name", "x", "--memory-dir", path.join(blocked, "m")], {
      input: "x",
    });
    expectError(ran, 3, /blocked.*ENOTDIR.*--memory-dir/);
    const json = await box.run(["save", "--type", "user", "--name", "x", "--json", "--memory-dir", `${blocked}/m`], {
      input: "x",
    });
    expect(json.code).toBe(3);
    expect(JSON.parse(json.err).error.code).toBe("disk");
  });

  test("a directory where MEMORY.md belongs", async () => {
    const dir = box.at("odd");
    fs.mkdirSync(path.join(dir, "MEMORY.md"), { recursive: true });
    const ran = await box.run(["save", "--type", "user", "--name", "x", "--memory-dir", dir], { input: "x" });
    expectError(ran, 3, /MEMORY\.md is a directory/);
    expect(fs.readdirSync(dir).filter((name) => name.startsWith("user_"))).toEqual([]);
  });
});

describe("for whoever looks for the cause", () => {
  test("a stack trace is shown with MEMDIR_DEBUG=1 only", async () => {
    const ran = await box.run(["show", "nothing"], { env: { MEMDIR_DEBUG: "1" } });
    expect(ran.err).toMatch(/^memdir: no memory is called "nothing".*\nMemdirError: /);
    expect(ran.err).toMatch(/\n\s+at /);
    expect(ran.code).toBe(2);
  });

  test("a reader that closes early is no error", async () => {
    const { start } = await import("./run.ts");
    const { BINARY } = await import("./run.ts");
    const ran = await start(
      "bash",
      ["-c", `set -o pipefail; "${process.execPath}" "${BINARY}" --help | head -1`],
      "",
      box.cwd,
      box.env,
    );
    expect(ran.err).toBe("");
    expect(ran.code).toBe(0);
  });

  test("settings that cannot be read are a warning on stderr, not an end", async () => {
    const file = box.put("project/.claude/settings.json", "{ not json");
    const [human, json] = await Promise.all([box.run(["list"]), box.run(["list", "--json"])]);
    fs.rmSync(file);
    expect(human.code).toBe(0);
    expect(human.err).toMatch(/^memdir: warning: .*settings\.json/);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toHaveLength(1);
  });
});
