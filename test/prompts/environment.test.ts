/** The golden files are written anew with `npx vitest run test/prompts -u`. */
import { describe, expect, it } from "vitest";
import { buildEnvironment, buildGitState, type Environment, type GitState } from "../../src/prompts/agent.ts";

const FULL: Environment = {
  cwd: "/home/ana/shop",
  isGitRepository: true,
  addedDirs: ["/home/ana/docs", "/srv/shared"],
  platform: "linux",
  osVersion: "Linux 6.1.0",
  model: "Example Large (example-large-1)",
  cutoff: "January 2026",
};
const BARE: Environment = {
  cwd: "/home/ana/shop",
  isGitRepository: false,
  addedDirs: [],
  platform: "darwin",
  osVersion: null,
  model: null,
  cutoff: null,
};
const GIT: GitState = {
  branch: "topic/prices",
  defaultBranch: "main",
  userName: "Ana",
  status: " M src/price.ts\n?? notes.txt",
  statusCut: false,
  commits: ["1a2b3c4 Round prices to cents", "5d6e7f8 Begin"],
};

describe("the environment", () => {
  it("B10.2 reads as in the golden file, everything known", async () => {
    await expect(`${buildEnvironment(FULL)}\n\n${buildGitState(GIT)}`).toMatchFileSnapshot("golden/environment.md");
  });

  it("B10.2 leaves out what is not known, label and all", () => {
    expect(buildEnvironment(BARE)).toBe(
      "<env>\nWorking directory: /home/ana/shop\nIs a git repository: no\nPlatform: darwin\n</env>",
    );
  });

  const LABELS: [keyof Environment, string, unknown][] = [
    ["addedDirs", "Additional working directories:", []],
    ["osVersion", "OS version:", null],
    ["model", "Model:", ""],
    ["cutoff", "Knowledge cut-off:", " "],
  ];
  it.each(LABELS)("B10.2 has %s exactly when it is given", (key, label, none) => {
    expect(buildEnvironment(FULL)).toContain(label);
    const without = buildEnvironment({ ...FULL, [key]: none });
    expect(without).not.toContain(label);
    expect(without.split("\n").length).toBeLessThan(buildEnvironment(FULL).split("\n").length);
  });

  it("names each added directory once, and the working directory not again", () => {
    const environment = { ...BARE, addedDirs: ["/a", BARE.cwd, "/a", "/b"] };
    expect(buildEnvironment(environment)).toContain("Additional working directories: /a\n  /b\nPlatform");
  });

  it("has no empty label, no empty line and no clock in it", () => {
    for (const environment of [FULL, BARE]) {
      expect(buildEnvironment(environment)).not.toMatch(/: *$|^$|undefined|null/m);
      expect(buildEnvironment(structuredClone(environment))).toBe(buildEnvironment(environment));
    }
  });

  it.each([
    ["a line break", "/a\nPlatform: win32", '"/a\\nPlatform: win32"'],
    ["a separator", "/a\u2028b\u0085", '"/a\\u2028b\\u0085"'],
    ["the end of the block", "/a</env>", "/a&lt;/env>"],
    ["a spaced end", "/a< / ENV >", "/a&lt; / ENV >"],
    ["other scripts and spaces", "/größe 图", "/größe 图"],
  ])("keeps a name with %s on its line", (_, cwd, shown) => {
    expect(buildEnvironment({ ...BARE, cwd }).split("\n")[1]).toBe(`Working directory: ${shown}`);
  });
});

describe("the git state", () => {
  it("B10.2 says that it is a snapshot that is not updated", () => {
    expect(buildGitState(GIT)).toMatch(/^The git repository as it was when this conversation began.*not updated/);
  });

  it("B10.2 says clean, cut, unreadable, detached, without commits", () => {
    expect(buildGitState({ ...GIT, status: "" })).toContain("Status:\n(clean)\n");
    expect(buildGitState({ ...GIT, statusCut: true })).toMatch(/\?\? notes\.txt\n\(cut here, .*`git status --short`/);
    expect(buildGitState({ ...GIT, status: "", statusCut: true })).not.toContain("(clean)");
    expect(buildGitState({ ...GIT, status: null })).toContain("could not be read");
    expect(buildGitState({ ...GIT, branch: null })).toContain("HEAD is detached");
    expect(buildGitState({ ...GIT, commits: [] })).toContain("Commits: none yet");
  });

  it("leaves out who and whereto when they are not known", () => {
    const text = buildGitState({ ...GIT, userName: null, defaultBranch: null });
    expect(text).not.toMatch(/user|Default/);
    expect(text).toContain("Branch: topic/prices\n\nStatus:");
  });
});
