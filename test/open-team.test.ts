import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openGitSync, openTeam } from "../src/open-team.ts";
import { errorOf, makeWorld, note, type World } from "./world.ts";

function makeRemote(world: World): string {
  const remote = path.join(world.top, "remote.git");
  execFileSync("git", ["init", "-q", "--bare", remote], { env: { ...world.env, HOME: world.home } });
  return remote;
}

/** Another machine of the same person: the same project elsewhere. */
function makeMachine(origin: string): World {
  const world = makeWorld();
  world.git("remote", "add", "origin", origin);
  return world;
}

const ORIGIN = "https://git.example/acme/app.git";

describe("openGitSync", () => {
  it("carries one's own memories to another machine, and nothing of the team's", async () => {
    const here = makeMachine(ORIGIN);
    const remote = makeRemote(here);
    await (await here.open()).save(note("tea", { type: "project" }));
    await (await here.open({ scope: "user" })).save(note("role"));
    fs.mkdirSync(path.join(here.project, ".claude", "memory"), { recursive: true });
    await (await here.open({ scope: "team" })).save(note("shared", { type: "project" }));
    const pushed = await (await openGitSync(await here.open(), { remote })).sync();
    expect(pushed.pushed.map((file) => file.replace(/projects\/app-[0-9a-f]{12}\//, "projects/KEY/"))).toEqual([
      "user/user_role.md",
      "projects/KEY/project_tea.md",
    ]);

    const there = makeMachine("git@git.example:acme/app");
    const pulled = await (await openGitSync(await there.open(), { remote })).sync();
    expect(pulled.pulled).toHaveLength(2);
    const rows = await (await there.open()).list();
    expect(rows.map(({ scope, name }) => `${scope} ${name}`).sort()).toEqual(["project tea", "user role"]);
    const dry = await (await openGitSync(await there.open(), { remote })).sync({ dryRun: true });
    expect([...dry.pulled, ...dry.pushed]).toEqual([]);
  });

  it("takes one scope if it is told to, and no shared one", async () => {
    const world = makeMachine(ORIGIN);
    const remote = makeRemote(world);
    await (await world.open()).save(note("tea", { type: "project" }));
    const memdir = await world.open();
    const user = await openGitSync(memdir, { remote, scope: "user" });
    expect((await user.sync()).pushed).toEqual([]);
    for (const scope of ["team", "agent:x@user"]) {
      expect((await errorOf(openGitSync(memdir, { remote, scope }))).code).toBe("usage");
    }
    const inside = path.join(world.project, "notes");
    fs.mkdirSync(inside);
    const committed = await world.open({ memoryDir: inside });
    expect((await errorOf(openGitSync(committed, { remote, scope: "project" }))).message).toContain("committed");
  });
});

describe("openTeam", () => {
  it("needs a membership and a token", async () => {
    const world = makeWorld();

    const memdir = await world.open();
    expect(() => openTeam(memdir)).toThrow("memdir join");
    const teams = { [world.project]: "https://memory.example/acme/app" };
    fs.writeFileSync(path.join(world.home, ".claude", "memdir.json"), JSON.stringify({ teams }));
    const joined = await world.open();
    expect(() => openTeam(joined)).toThrow("there is no token");
    const env = { ...world.env, MEMDIR_TOKEN: "memdir_0123456789abcdef" };
    const team = openTeam(await world.open({ env: { ...env, MEMDIR_TOKEN_SERVER: "https://memory.example" } }));
    expect(team.directory).toMatchObject({ scope: "team", path: world.path("team"), inRepository: false });
  });
});
