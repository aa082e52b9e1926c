import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { processEnv, readConfig } from "../src/config.ts";
import { makeFixture } from "./project/fixture.ts";

describe("defaults", () => {
  it("C4 the claude profile: ~/.claude, slugs, the repository's root", () => {
    const f = makeFixture();
    const config = f.config(f.top);
    expect(config).toMatchObject({
      home: f.home,
      claudeDir: f.at("home/.claude"),
      managedDir: f.at("managed"),
      userFile: f.at("home/.claude/memdir.json"),
      profile: "claude",
      keying: "slug",
      projectScope: "repository",
      scopeLayout: "separate",
      memoryFolder: "memory",
      index: { maxLines: 200, maxChars: 25_000 },
      ageDays: { recent: 2, stale: 8, old: 31 },
      disabled: null,
      claudeMdsDisabled: false,
      problems: [],
    });
  });

  it("C4 profiles come from the environment or the user file; CLAUDE_CONFIG_DIR moves ~/.claude only", () => {
    const f = makeFixture();
    const moved = { CLAUDE_CONFIG_DIR: f.at("moved") };
    expect(f.config(f.top, moved).claudeDir).toBe(f.at("moved"));
    expect(f.config(f.top, { ...moved, MEMDIR_PROFILE: "own" }).claudeDir).toBe(f.at("home/.memdir"));
    expect(f.config(f.top, { MEMDIR_PROFILE: "mini-claude" })).toMatchObject({
      claudeDir: f.at("home/.mini-claude"),
      keying: "sha256-16",
      projectScope: "cwd",
    });
    expect(f.config(f.top, { MEMDIR_PROFILE: "code-assist", MEMDIR_MANAGED_DIR: "" })).toMatchObject({
      claudeDir: f.at("home/.claude"),
      managedDir: "/etc/code-assist",
      memoryFolder: "",
    });
    f.put({ "home/.claude/memdir.json": { profile: "own" } });
    expect(f.config(f.top)).toMatchObject({ profile: "own", claudeDir: f.at("home/.memdir") });
    expect(f.config(f.top, { MEMDIR_PROFILE: "claude" }).profile).toBe("claude");
    expect(f.config(f.top, { MEMDIR_PROFILE: "toString" }).problems).toEqual([
      expect.stringContaining("MEMDIR_PROFILE"),
    ]);
  });

  it("C4 managed directories per system, the home directory from HOME, then USERPROFILE", () => {
    const managed = (platform: NodeJS.Platform) =>
      readConfig({ cwd: "/", env: { USERPROFILE: "/u" }, projectRoot: "/nowhere", platform });
    expect(managed("linux").managedDir).toBe("/etc/claude-code");
    expect(managed("darwin").managedDir).toBe("/Library/Application Support/ClaudeCode");
    expect(managed("win32").managedDir).toBe("C:\\Program Files\\ClaudeCode");
    expect(managed("linux").home).toBe("/u");
    expect(processEnv()).toBe(process.env);
  });
});

describe("own settings", () => {
  it("C14 user file below project file, part by part", () => {
    const f = makeFixture();
    f.put({
      "home/.claude/memdir.json": { index: { maxLines: 100 }, ageDays: { old: 60 }, projectScope: "cwd", team: false },
      "repo/.claude/memdir.json": { index: { maxChars: 9000 }, projectScope: "worktree", scopeLayout: "shared" },
    });
    expect(f.config(f.repository("repo"))).toMatchObject({
      index: { maxLines: 100, maxChars: 9000 },
      ageDays: { recent: 2, stale: 8, old: 60 },
      projectScope: "worktree",
      scopeLayout: "shared",
      team: false,
      problems: [],
    });
  });

  it("C22 a repository's file sets nothing that reaches outside it", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    const keys = { profile: "own", keying: { name: "x" }, team: false, trusted: { [root]: "/x" }, directories: {} };
    f.put({ "repo/.claude/memdir.json": keys });
    const config = f.config(root);
    expect(config).toMatchObject({ profile: "claude", keying: "slug", team: true, trusted: {}, directories: {} });
    expect(config.problems).toHaveLength(5);
    expect(config.problems[0]).toMatch(/repo\/\.claude\/memdir\.json: "profile" is not taken from a repository/);
  });

  it("a wrong value names file and key, and the default is used", () => {
    const f = makeFixture();
    const wrong = { keying: 5, index: { maxLines: "many", maxChars: -1 }, ageDays: [], trusted: { a: 1 }, team: "yes" };
    f.put({ "home/.claude/memdir.json": { ...wrong, projectScope: "galaxy" } });
    const config = f.config(f.top);
    expect(config).toMatchObject({
      keying: "slug",
      index: { maxLines: 200, maxChars: 25_000 },
      trusted: {},
      team: true,
    });
    expect(config.problems).toHaveLength(7);
    for (const key of ["keying", "maxLines", "maxChars", "ageDays", "trusted", "team", "projectScope"]) {
      expect(config.problems.join("\n")).toContain(`"${key}" must be`);
    }
    f.put({ "home/.claude/memdir.json": { ageDays: { recent: 40 } } });
    expect(f.config(f.top)).toMatchObject({ ageDays: { recent: 2, stale: 8, old: 31 } });
    expect(f.config(f.top).problems).toEqual([expect.stringContaining("must increase")]);
  });

  it("broken, unreadable and odd files are problems, and nothing of their text is repeated", () => {
    const f = makeFixture();
    f.put({
      "home/.claude/settings.json": '{\n "env": {"ANTHROPIC_API_KEY": "sk-hidden"\n oops',
      "repo/.claude/settings.json": "[1]",
      "repo/.claude/settings.local.json/x": "",
      "home/.claude/memdir.json": '\uFEFF{"scopeLayout":"shared"}',
      "repo/.claude/memdir.json": "  \n",
    });
    const { problems, scopeLayout } = f.config(f.repository("repo"));
    expect(scopeLayout).toBe("shared");
    expect(problems).toHaveLength(3);
    expect(problems.join("\n")).not.toContain("sk-hidden");
    const said = problems.join("\n");
    expect(said).toMatch(/home\/\.claude\/settings\.json: not valid JSON/);
    expect(said).toMatch(/repo\/\.claude\/settings\.json: must hold one JSON object/);
    expect(said).toMatch(/settings\.local\.json: not a file/);
  });

  // As Claude Code 2.1.325 was seen to do with its own.
  it.each(["// mine\n{}", '{\n  // mine\n  "scopeLayout": "shared"\n}', '{ "scopeLayout": "shared", }'])(
    "a file with comments or trailing commas is ignored as a whole, and the message says so: %j",
    (text) => {
      const f = makeFixture();
      f.put({ "home/.claude/settings.json": text, "home/.claude/memdir.json": text });
      const { problems, scopeLayout } = f.config(f.repository("repo"));
      expect(scopeLayout).toBe("separate");
      expect(problems).toHaveLength(2);
      for (const problem of problems) expect(problem).toMatch(/not valid JSON.*comments and trailing commas/);
    },
  );
});

it("meaning is switched on or off, and the names of its former kinds mean on", () => {
  const f = makeFixture();
  expect(f.config(f.top).meaning).toBe(true);
  for (const [value, isOn] of [
    ["off", false],
    ["0", false],
    ["on", true],
    ["words", true],
    ["minilm", true],
  ] as const)
    expect(f.config(f.top, { MEMDIR_MEANING: value }).meaning).toBe(isOn);
  for (const [value, isOn] of [
    [false, false],
    ["off", false],
    ["words", true],
  ] as const) {
    f.put({ "home/.claude/memdir.json": { meaning: value } });
    expect(f.config(f.top)).toMatchObject({ meaning: isOn, problems: [] });
  }
});

describe("Claude Code's settings", () => {
  it("C21 are read per source, with managed drop-ins in order of name", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "managed/managed-settings.json": { autoMemoryEnabled: true, claudeMdExcludes: ["a"], env: { A: "1", B: 1 } },
      "managed/managed-settings.d/20.json": { autoMemoryEnabled: false, claudeMdExcludes: ["b"], env: { A: "2" } },
      "managed/managed-settings.d/10.json": { autoMemoryDirectory: "/m", enabledPlugins: { p: true, q: ["1"] } },
      "managed/managed-settings.d/.hidden.json": { autoMemoryDirectory: "/hidden" },
      "home/.claude/settings.json": { autoMemoryDirectory: "~/u" },
      "repo/.claude/settings.json": { memoryDir: "/p", autoMemoryEnabled: "no" },
      "repo/.claude/settings.local.json": { claudeMdExcludes: ["l"] },
    });
    const { settings, problems } = f.config(root);
    expect(settings.managed).toMatchObject({
      autoMemoryEnabled: false,
      autoMemoryDirectory: "/m",
      claudeMdExcludes: ["a", "b"],
      env: { A: "2", B: "1" },
      enabledPlugins: { p: true },
    });
    expect(settings.user).toMatchObject({ autoMemoryDirectory: "~/u" });
    expect(settings.project).toEqual({ file: f.at("repo/.claude/settings.json"), memoryDir: "/p" });
    expect(settings.local.claudeMdExcludes).toEqual(["l"]);
    expect(problems).toEqual([expect.stringContaining('"autoMemoryEnabled" must be true or false')]);
  });

  it("B10.5 attribution is read per source, checked part by part, and merged in managed drop-ins", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "managed/managed-settings.json": { attribution: { commit: "a", pr: "b" } },
      "managed/managed-settings.d/10.json": { attribution: { pr: "" } },
      "home/.claude/settings.json": { includeCoAuthoredBy: false },
      "repo/.claude/settings.json": { attribution: { commit: 1, pr: "p" }, includeCoAuthoredBy: "no" },
      "repo/.claude/settings.local.json": { attribution: "off" },
    });
    const { settings, problems } = f.config(root);
    expect(settings.managed.attribution).toEqual({ commit: "a", pr: "" });
    expect(settings.user).toEqual({ file: f.at("home/.claude/settings.json"), includeCoAuthoredBy: false });
    expect(settings.project).toEqual({ file: f.at("repo/.claude/settings.json"), attribution: { pr: "p" } });
    expect(settings.local).toEqual({ file: f.at("repo/.claude/settings.local.json") });
    expect(problems.sort()).toEqual([
      expect.stringContaining('settings.json: "includeCoAuthoredBy" must be true or false'),
      expect.stringContaining('settings.json: attribution: "commit" must be a text'),
      expect.stringContaining('settings.local.json: "attribution" must be an object'),
    ]);
  });

  it("setting sources leave files out, managed ones never", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "managed/managed-settings.json": { memoryDir: "/m" },
      "home/.claude/settings.json": { memoryDir: "/u" },
      "repo/.claude/settings.json": { memoryDir: "/p" },
      "repo/.claude/settings.local.json": { memoryDir: "/l" },
    });
    const { settings } = f.config(root, {}, ["project"]);
    expect([settings.managed, settings.project, settings.user, settings.local].map((one) => one.memoryDir)).toEqual([
      "/m",
      "/p",
      undefined,
      undefined,
    ]);
  });

  it("in the home directory the user's file is not taken for a repository's", () => {
    const f = makeFixture();
    f.put({ "home/.claude/settings.json": { memoryDir: "/u" }, "home/.claude/memdir.json": { profile: "claude" } });
    const { settings, problems } = f.config(f.home);
    expect(settings.project.memoryDir).toBeUndefined();
    expect(settings.user.memoryDir).toBe("/u");
    expect(problems).toEqual([]);
  });

  it("C22 env blocks fill gaps of the environment; a repository's may switch, not place", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "home/.claude/settings.json": { env: { CLAUDE_MEMORY_DIR: "/from-user", GIVEN: "user" } },
      "repo/.claude/settings.json": {
        env: { CLAUDE_MEMORY_DIR: "/evil", MEMDIR_MEMORY_DIR: "/evil", PATH: "/evil", CLAUDE_CODE_SIMPLE: "1" },
      },
    });
    const config = f.config(root, { GIVEN: "process" });
    expect(config.env).toMatchObject({ CLAUDE_MEMORY_DIR: "/from-user", GIVEN: "process", CLAUDE_CODE_SIMPLE: "1" });
    expect(config.env.MEMDIR_MEMORY_DIR).toBeUndefined();
    expect(config.env.PATH).toBeUndefined();
    expect(config.problems).toHaveLength(2);
    expect(config.disabled).toMatch(/CLAUDE_CODE_SIMPLE/);
  });
});

describe("the enable chain", () => {
  const disabled = (env: Record<string, string>, settings: Record<string, object> = {}) => {
    const f = makeFixture();
    f.put(settings);
    fs.mkdirSync(f.at("repo/.git"), { recursive: true });
    return f.config(f.at("repo"), env).disabled;
  };
  const userOff = { "home/.claude/settings.json": { autoMemoryEnabled: false } };

  it("takes the first word: environment, bare, remote without storage, settings", () => {
    expect(disabled({})).toBeNull();
    expect(disabled({ CLAUDE_CODE_DISABLE_AUTO_MEMORY: "true" })).toMatch(/DISABLE_AUTO_MEMORY/);
    expect(disabled({ CLAUDE_CODE_DISABLE_AUTO_MEMORY: "0", CLAUDE_CODE_SIMPLE: "1" }, userOff)).toBeNull();
    expect(disabled({ CLAUDE_CODE_SIMPLE: "1" })).toMatch(/SIMPLE/);
    expect(disabled({ CLAUDE_CODE_REMOTE: "true" })).toMatch(/REMOTE/);
    expect(disabled({ CLAUDE_CODE_REMOTE: "true", CLAUDE_CODE_REMOTE_MEMORY_DIR: "/mnt/m" })).toBeNull();
    expect(disabled({}, userOff)).toMatch(/autoMemoryEnabled is false in .*home\/\.claude\/settings\.json/);
  });

  it("says whether only the repository switched it off", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    const isRepositorys = (repository: object, user: object = {}, env: Record<string, string> = {}) => {
      f.put({ "repo/.claude/settings.local.json": repository, "home/.claude/settings.json": user });
      return f.config(root, env).disabledByRepository;
    };
    const off = { autoMemoryEnabled: false };
    const simple = { CLAUDE_CODE_SIMPLE: "1" };
    expect(isRepositorys({})).toBe(false);
    expect(isRepositorys({}, off)).toBe(false);
    expect(isRepositorys({}, {}, simple)).toBe(false);
    expect(isRepositorys(off)).toBe(true);
    expect(isRepositorys(off, { autoMemoryEnabled: true })).toBe(true);
    expect(isRepositorys(off, off)).toBe(false);
    expect(isRepositorys(off, {}, simple)).toBe(false);
    expect(isRepositorys({ env: simple })).toBe(true);
    // The client has put it into the environment.
    expect(isRepositorys({ env: simple }, {}, simple)).toBe(true);
    expect(isRepositorys({ env: simple }, { env: simple }, simple)).toBe(false);
  });

  it("settings: project true beats user false, managed false beats all", () => {
    const on = { "repo/.claude/settings.json": { autoMemoryEnabled: true } };
    expect(disabled({}, { ...userOff, ...on })).toBeNull();
    expect(disabled({}, { ...on, "managed/managed-settings.json": { autoMemoryEnabled: false } })).toMatch(/managed/);
  });
});
