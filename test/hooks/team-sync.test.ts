import { describe, expect, it } from "vitest";
import { wantsSync } from "../../src/hooks/team-sync.ts";
import { findPlace } from "../../src/project/scopes.ts";
import { makeWorld } from "../world.ts";

function asked(settings: (project: string) => object, env = {}): boolean {
  const world = makeWorld();
  const { config, location } = findPlace({ cwd: world.project }, { ...world.env, ...env });
  const own = settings(world.project) as { teams?: Record<string, string>; sync?: boolean };
  const hooks = { ...config.hooks, sync: own.sync ?? config.hooks.sync };
  return wantsSync({ ...config, hooks, teams: own.teams ?? {} }, location);
}

describe("a sync beside a session", () => {
  const teams = (project: string) => ({ [project]: "https://memory.example/acme/app" });

  it("happens only where the user wants it and the project has joined a team", () => {
    expect(asked((project) => ({ teams: teams(project), sync: true }))).toBe(true);
    expect(asked((project) => ({ teams: teams(project) }))).toBe(false);
    expect(asked(() => ({ sync: true }))).toBe(false);
    expect(asked((project) => ({ teams: teams(project), sync: true }), { CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1" })).toBe(
      false,
    );
  });
});
