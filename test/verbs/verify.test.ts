/** `lint`: what it says of several scopes. */

import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { lint } from "../../src/verbs/verify.ts";
import { hearCall } from "../cli/call.ts";
import { makeWorld } from "../world.ts";

const BARE = "---\nname: deploy\ntype: reference\n---\n\nBy hand.\n\nOr by Argo.\n";

it("the scope is named where there are problems in more than one", async () => {
  const world = makeWorld();
  world.write("deploy.md", BARE);
  const say = async () => {
    const heard = hearCall(world, {});
    expect(await runOf(lint)(heard.call)).toBe(1);
    return heard.printed;
  };
  expect((await say())[0]).toMatch(/^deploy\.md: no description/);
  const team = await world.open({ scope: "team" });
  await team.save({ type: "reference", name: "deploy", body: "By hand.\n\nOr by Argo." });
  const said = await say();
  expect(said.filter((line) => line.includes("no description"))).toEqual([
    expect.stringMatching(/^project: deploy\.md: /),
    expect.stringMatching(/^team: reference_deploy\.md: /),
  ]);
});
