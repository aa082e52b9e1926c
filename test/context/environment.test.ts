import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitRunner, readEnvironment, readGitState } from "../../src/context/environment.ts";
import { buildEnvironment } from "../../src/prompts/agent.ts";
import { makeWorld } from "../world.ts";

const MODEL = { model: "a large model", cutoff: "January 2026" };

function factsOf(cwd: string, more: { addedDirs?: readonly string[]; model?: string; cutoff?: string } = {}) {
  return { cwd, addedDirs: [], platform: "linux", osVersion: "Linux 6.1", model: null, cutoff: null, ...more };
}

describe("the environment as a value", () => {
  it("B10.2 holds place, system and model", async () => {
    const world = makeWorld();
    const git = await readGitState(world.project, gitRunner(world.project, world.env));
    expect(git).not.toBeNull();
    expect(readEnvironment(factsOf(world.project, { addedDirs: ["/b", "/a"], ...MODEL }), git)).toEqual({
      cwd: world.project,
      isGitRepository: true,
      addedDirs: ["/b", "/a"],
      platform: "linux",
      osVersion: "Linux 6.1",
      model: "a large model",
      cutoff: "January 2026",
    });
  });

  it("B10.2 is a repository also when its state is not to be shown, and below its top", () => {
    const world = makeWorld();
    const below = join(world.project, "a", "b");
    mkdirSync(below, { recursive: true });
    expect(readEnvironment(factsOf(world.project), null).isGitRepository).toBe(true);
    expect(readEnvironment(factsOf(below), null).isGitRepository).toBe(true);
    expect(readEnvironment(factsOf(world.home), null).isGitRepository).toBe(false);
    expect(readEnvironment(factsOf(join(world.top, "not", "there")), null).isGitRepository).toBe(false);
  });

  it("names each added directory once, and the working directory not again", () => {
    const { home } = makeWorld();
    const { addedDirs } = readEnvironment(factsOf(home, { addedDirs: ["/a", home, "/a", "/b"] }), null);
    expect(addedDirs).toEqual(["/a", "/b"]);
  });

  it("B10.2 gives the same bytes twice", () => {
    const { project } = makeWorld();
    const build = () => buildEnvironment(readEnvironment(factsOf(project, MODEL), null));
    expect(build()).toBe(build());
  });
});
