/** The console on a pipe and on a real terminal. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openPty } from "../pty.ts";
import { BINARY, openSandbox, type Sandbox } from "./run.ts";

let box: Sandbox;
beforeAll(() => {
  box = openSandbox();
});

const greeting = () =>
  `memdir on ${box.cwd}\n  directory  ${box.dir()}\n  model      none, so this is the offline console (MEMDIR_MODEL names one)\n`;
const empty = () => `${greeting()}No memories saved yet.\nType remember that … to save the first one, or /help.\n`;
/** What follows the greeting. */
async function talk(...lines: string[]) {
  const ran = await box.run([], { input: lines.map((line) => `${line}\n`).join("") });
  const body = ran.out.includes("/help lists what you can type\n")
    ? ran.out.split("/help lists what you can type\n")[1]
    : ran.out.replace(empty(), "");
  return { ...ran, body: body ?? "" };
}

describe("on a pipe", () => {
  test("greets, says that there is nothing yet and what to do, and ends with the input", async () => {
    const [bare, named] = await Promise.all([box.run([]), box.run(["console"])]);
    expect(bare).toEqual({ code: 0, out: empty(), err: "" });
    expect(named).toEqual(bare);
    expect(fs.existsSync(box.dir())).toBe(false);
  });

  test("it has no JSON: --json is refused, and the call that has it is named", async () => {
    for (const command of [[], ["console"], ["chat"]]) {
      const { code, out, err } = await box.run([...command, "--json"]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(JSON.parse(err).error.message).toBe("--json needs a prompt: memdir chat -p TEXT --json");
    }
  });

  test('/memory without memories: "No memories saved yet." (B9.8)', async () => {
    expect(await talk("/memory", "/memory show")).toMatchObject({
      code: 0,
      body: "No memories saved yet.\nMEMORY.md is empty.\n",
    });
  });

  test("remember guesses the type, says it, and saves", async () => {
    const ran = await talk(
      "remember that releases are cut on Tuesdays",
      "remember never push to main on a Friday",
      "remember I prefer tabs",
      "remember that bugs are tracked in Linear",
    );
    expect(ran.code).toBe(0);
    expect(ran.err).toBe("");
    expect(ran.body.replace(/\n {4,}/g, " ")).toMatch(
      /^created project_releases_are_cut_on_tuesdays\.md {3}\(\/undo 1\) Saved as project, "releases are cut on Tuesdays"\. To change that: \/edit /,
    );
    const files = fs.readdirSync(box.dir()).filter((name) => /^[a-z]+_/.test(name));
    expect(files.sort()).toEqual([
      "feedback_never_push_to_main_on_a_friday.md",
      "project_releases_are_cut_on_tuesdays.md",
      "reference_bugs_are_tracked_in_linear.md",
      "user_i_prefer_tabs.md",
    ]);
  });

  test("a capital letter and a colon are understood too", async () => {
    const other = openSandbox();
    const ran = await other.run([], { input: "Remember: I prefer tabs\nRemember that I work at night\n" });
    expect(ran.out).toContain("created user_i_prefer_tabs.md");
    expect(ran.out).toContain("created user_i_work_at_night.md");
  });

  test("a request in the middle of a sentence is kept, and said to be one", async () => {
    const other = openSandbox();
    const ran = await other.run([], { input: "Please remember that I prefer tabs over spaces.\n" });
    expect(ran.out).toMatch(/understood as a request, saved as \w+; \/undo removes it\n/);
  });

  test("a statement that is not kept is said not to be, and how to save it; a question is only answered", async () => {
    const other = openSandbox();
    other.env.MEMDIR_MEANING = "0";
    const said = await other.run([], { input: "always use pnpm here\n" });
    expect(said.out).toContain("Nothing was saved. To save a sentence: remember that …\n");
    const asked = await other.run([], { input: "do we use pnpm here?\n" });
    expect(asked.out).not.toContain("Nothing was saved");
  });

  test("greets with directory, count by type and the index against the cap", async () => {
    const chars = fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8").trim().length;
    const ran = await box.run([]);
    expect(ran.out).toBe(
      `${greeting()}  memories   4: 1 user, 1 feedback, 1 project, 1 reference\n` +
        `  index      4 of 200 lines, ${chars} of 25000 characters\n  /help lists what you can type\n`,
    );
  });

  test("/memory: count, then [type] name — description, exactly (B9.8)", async () => {
    await box.run(["save", "--type", "user", "--name", "I prefer tabs", "--description", "Indentation"]);
    const ran = await talk("/memory");
    expect(ran.body).toBe(
      [
        "4 memories:",
        "    [feedback] never push to main on a Friday",
        "    [project] releases are cut on Tuesdays",
        "    [reference] bugs are tracked in Linear",
        "    [user] I prefer tabs — Indentation",
        "",
      ].join("\n"),
    );
  });

  test("/memory show, /memory show NAME, /memory save TYPE TEXT (B9.9, C30)", async () => {
    const ran = await talk(
      "/memory save feedback always run the linter",
      "/memory show always run the linter",
      "/memory show",
      "/memory save Grafana is at https://grafana.example",
    );
    expect(ran.code).toBe(0);
    expect(ran.body).toMatch(/^created feedback_always_run_the_linter\.md/);
    expect(ran.body).toContain("[feedback] always run the linter\n");
    expect(ran.body).toContain("- [always run the linter](feedback_always_run_the_linter.md)\n");
    expect(ran.body).toContain("    Saved as reference,");
    expect((await box.json(["show", "always run the linter"])).metadata.source).toBe("user");
  });

  test("a sentence whose name is taken is refused, and the call that updates the memory works", async () => {
    const other = openSandbox();
    await other.run(["save", "Deploys are slow: the cache is cold."]);
    const saying = "remember that Deploys are slow: the runner is small.\n";
    const ran = await other.run([], { input: saying });
    expect(ran.err).toMatch(
      /: `\/save --name "Deploys are slow" TEXT` updates it, and another name saves a new one\n$/,
    );
    const updated = await other.run([], { input: '/save --name "Deploys are slow" the runner is small\n' });
    expect(updated.out).toMatch(/^updated project_deploys_are_slow\.md/m);
  });

  test("forget by name or by words, never by guess; /undo brings it back", async () => {
    const ran = await talk("forget always run the linter", "/undo", "forget grafana", "forget on", "/search Tuesdays");
    expect(ran.body).toMatch(/^removed feedback_always_run_the_linter\.md; \/undo \d+ brings it back\n/);
    expect(ran.body).toMatch(/^undid forget \d+: feedback_always_run_the_linter\.md$/m);
    expect(ran.body).not.toContain("removed reference_grafana");
    expect((await talk("forget Grafana is at https://grafana.example")).body).toContain("removed reference_grafana");
    const [one, several] = ran.err.split("\n");
    expect(one).toMatch(
      /^memdir: no memory has this name, but these words are in reference_grafana_is_at\S*\.md; to forget it, /,
    );
    expect(several).toMatch(/^memdir: several memories could be meant: .*; to forget one, type forget and its name$/);
    expect(ran.body).toContain(
      "[project] releases are cut on Tuesdays project_releases_are_cut_on_tuesdays.md\n    releases are cut on Tuesdays\n",
    );
    expect(ran.code).toBe(2);
  });

  test("/help lists all of it; /exit leaves before the rest", async () => {
    const ran = await talk("/help", "/exit", "remember not this");
    for (const word of [
      "/memory",
      "show NAME",
      "save [TYPE] TEXT",
      "remember",
      "forget",
      "/search",
      "/undo",
      "/exit",
      "/compact [INSTRUCTIONS]",
    ]) {
      expect(ran.body).toContain(word);
    }
    expect(ran.body).not.toContain("created");
    expect(ran.code).toBe(0);
  });

  test("exit, quit and help need no slash; in a sentence they are words", async () => {
    for (const word of ["exit", "Quit"]) {
      const ran = await talk("help", "how do I exit vim", word, "remember not this");
      expect(ran.body).toContain("/memory");
      expect(ran.body).toContain("A model would be shown");
      expect(ran.body).not.toContain("created");
      expect(ran.code).toBe(0);
    }
  });

  test("plain words are answered, an unknown command is said, and the exit code remembers it (B9.9)", async () => {
    const plain = await talk("hello there", "");
    expect(plain).toMatchObject({ code: 0, err: "" });
    expect(plain.body).toBe(
      "No model is configured for chat. A model would be shown:\n" +
        "  no memory: none fits these words\n  no instructions: there is no CLAUDE.md here\n" +
        "Nothing was saved. To save a sentence: remember that …\n",
    );
    const ran = await talk("/nope", "/memory nope", "remember", "forget", "/memory");
    expect(ran.err.split("\n").filter(Boolean)).toHaveLength(4);
    for (const line of ran.err.trim().split("\n")) expect(line).toMatch(/^memdir: /);
    expect(ran.body).toMatch(/^5 memories:\n/);
    expect(ran.code).toBe(2);
  });

  test("/clear offers to resume only a session that was written", async () => {
    const ran = await talk("hello", "/clear");
    expect(ran.body).toMatch(/\na new session begins\n$/);
  });

  test("a secret is refused and not shown", async () => {
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    const ran = await talk(`remember the token ${secret}`);
    expect(ran.code).toBe(2);
    expect(ran.out + ran.err).not.toContain(secret);
  });

  test("warnings: memories with problems, entries passed over, an index that is cut", async () => {
    const odd = box.at("odd");
    fs.mkdirSync(path.join(odd, "folder.md"), { recursive: true });
    fs.writeFileSync(path.join(odd, "broken.md"), "---\nname: broken\n");
    const lines = Array.from({ length: 230 }, (_, i) => `Line ${i} by hand`);
    fs.writeFileSync(path.join(odd, "MEMORY.md"), `${lines.join("\n")}\n`);
    const ran = await box.run(["--memory-dir", odd, "--scope", "project"]);
    expect(ran.out).toContain("  1 with problems: memdir lint\n");
    expect(ran.out).toContain("  1 entry skipped: memdir doctor\n");
    expect(ran.out).toMatch(/ {2}MEMORY\.md has 230 lines \(limit 200\): 30 lines from line 201 on .* are not loaded/);
    expect(ran.out).toContain(`  directory  ${odd}\n`);
  });

  test("a last line without a newline counts, CRLF does not matter", async () => {
    const ran = await box.run([], { input: "/memory\r\n/search tabs" });
    expect(ran.out).toContain("5 memories:\n");
    expect(ran.out).toMatch(/\[user\] I prefer tabs user_i_prefer_tabs\.md\n {4}I prefer tabs\n$/);
  });
});

describe("colour", () => {
  test("none on a pipe", async () => {
    const all = await Promise.all([box.run(["list"]), box.run([]), box.run(["--help"]), box.run(["doctor"])]);
    for (const { out, err } of all) expect(out + err).not.toContain("\x1b");
  });
});

describe("on a terminal", () => {
  const terminal = (args: string[], env: Record<string, string> = {}) =>
    openPty(process.execPath, [BINARY, ...args], { cwd: box.cwd, env: { ...box.env, TERM: "xterm-256color", ...env } });

  test("the prompt appears, a line is answered, Ctrl-D leaves with 0", async () => {
    const pty = terminal([]);
    await pty.waitFor(/^> /m);
    pty.write("/memory\r");
    await pty.waitFor(/5 memories:/);
    pty.press("ctrl-d");
    expect(await pty.exit).toBe(0);
    expect(pty.raw()).toContain("\x1b[1mmemdir\x1b[22m");
  });

  test("names of memories complete behind the commands that take one", async () => {
    const pty = terminal([]);
    await pty.waitFor(/^> say something/m);
    pty.write("/memory show i pre");
    await pty.waitFor(/> \/memory show i pre\n› I prefer tabs/);
    pty.press("tab", "enter");
    await pty.waitFor(/> \/memory show I prefer tabs\n[\s\S]*\[user\] I prefer tabs/);
    pty.write("/memory forget ");
    await pty.waitFor(/releases are cut on Tuesdays/);
    pty.press("ctrl-u", "ctrl-d");
    expect(await pty.exit).toBe(0);
  });

  test("what the console says is broken at words", async () => {
    const pty = openPty(process.execPath, [BINARY], { cwd: box.cwd, env: box.env, cols: 60, rows: 40 });
    await pty.waitFor(/^> say something/m);
    for (const line of ["/undo abc", "/model foo", "/memory zzz", "/memory off"]) {
      pty.write(line);
      await pty.waitFor(new RegExp(`^> ${line}`, "m"));
      pty.press("enter");
      await pty.waitFor(/^> say something/m);
    }
    const said = pty.history().join("\n").replace(/\s+/g, " ");
    expect(said).toContain("none, so this is the offline console (MEMDIR_MODEL names one)");
    expect(said).toContain(
      '"abc" is not the number of a change: `/history` lists them, such as 17 or team:17; without one',
    );
    expect(said).toContain("name the provider and its model: anthropic/foo, openai/foo or ollama/foo, or a client");
    expect(said).toContain("there are /memory and /memory show, save, edit, forget, on, off, where");
    expect(said).toContain("`autoMemoryEnabled` in Claude Code's settings switches it off for good");
    pty.press("ctrl-d");
    expect(await pty.exit).toBe(0);
  });

  test("a dumb terminal gets whole lines, questions too, and no sequence at all", async () => {
    const twins = openSandbox();
    for (const name of ["retries", "retries again"])
      await twins.run(["save", "--type", "project", "--name", name, "Jobs are retried three times."]);
    const pty = openPty(process.execPath, [BINARY], { cwd: twins.cwd, env: { ...twins.env, TERM: "dumb" } });
    await pty.waitFor(/^>/m);
    pty.write("/show retries\n");
    await pty.waitFor(/\[project\] retries/);
    pty.write("/dream\n");
    await pty.waitFor(/\? \[y\/N\]/);
    pty.write("y\n");
    // Where the two were saved in different milliseconds, the index is put in order, too.
    await pty.waitFor(/Step 2 of 2|undo \S+ reverts it/);
    if (pty.screen().join("\n").includes("Step 2 of 2")) pty.write("n\n");
    await pty.waitFor(/undo \S+ reverts it/);
    // Its keyboard is still open.
    pty.write("/exit\n");
    expect(await pty.exit).toBe(0);
    expect(pty.raw()).not.toContain("\x1b");
  });

  test("NO_COLOR gives no colours on a terminal", async () => {
    const pty = terminal(["list"], { NO_COLOR: "1" });
    await pty.exit;
    expect(pty.raw()).toContain("I prefer tabs");
    expect(pty.raw()).not.toContain("\x1b[");
  });
});
