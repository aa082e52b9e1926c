/** Calls that a host sends without waiting for the answers. */

import { expect, it } from "vitest";
import { makeWorld } from "../world.ts";
import { makeMcpOptions, openWire } from "./wire.ts";

it("a call sees what the calls before it have written", async () => {
  const world = makeWorld();
  const wire = openWire(makeMcpOptions(world));
  await wire.ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  const memory = { type: "user", name: "tabs", description: "Indentation", body: "Tabs." };
  const [saved, listed, forgotten] = await Promise.all([
    wire.call("save", memory),
    wire.call("list"),
    wire.call("forget", { name: "tabs" }),
  ]);
  expect(saved.structuredContent.action).toBe("created");
  expect(listed.structuredContent.total).toBe(1);
  expect(forgotten.structuredContent.file).toBe(saved.structuredContent.file);
  expect(world.files()).toEqual(["MEMORY.md"]);
});
