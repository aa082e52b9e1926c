/** What our hook does in every client that has hooks: it shows memories, denies what a rule forbids, keeps what was said. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { countIn, describeClient, NOT_LEARNING, openDesk, untilExtracted } from "./client.ts";
import type { Host, Moment } from "./host.ts";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
export const HOOK_COMMAND = `"${process.execPath}" "${path.join(DIST, "hook.cjs")}"`;
const ALL: readonly Moment[] = ["start", "prompt", "before-tool", "after-tool", "stop"];

const PROMPT = "how do we deploy with kubectl to staging?";
const BODY = "Deploy with kubectl, context heron, never on a Friday.";
export const MESSAGE = "Nothing is deleted in the archive, ask the user first.";
export const RULE = `---
name: keep the archive
description: Nothing is deleted in the archive
type: feedback
enforce:
  tool: Bash
  pattern: 'rm .*archive'
  message: ${MESSAGE}
---

Nothing is deleted in the archive.
`;

export function describeHooks(host: Host): void {
  const open = async (...moments: Moment[]) => {
    const desk = await openDesk(host.name, { learns: moments.includes("stop") });
    host.prepare(desk, { hook: { command: HOOK_COMMAND, moments } });
    return desk;
  };

  describeClient(host.name, () => {
    it("is shown by our hook what helps with the prompt", async () => {
      const desk = await open("prompt");
      await desk.save("deploy-staging", ["--type", "project"], BODY);
      desk.server.queue({ text: "With kubectl." });
      const { out } = await host.start(desk, PROMPT);
      expect(out).toContain("With kubectl.");
      expect(desk.asked().map((request) => countIn(request, BODY))).toEqual([1]);
    });

    it("is shown at the start what it does not load itself; to recall that was not said", async () => {
      const desk = await open("start", "prompt");
      await desk.save("deploy-staging", ["--type", "project"], BODY);
      await desk.save("zebra crossing", ["--scope", "user"], "Zebras cross at noon.");
      desk.server.queue({ text: "Cold." });
      await host.start(desk, "what is the weather like on the moon?");
      const [request] = desk.asked();
      const lines = ["Says deploy-staging", "Says zebra crossing", BODY, "Zebras cross at noon."];
      expect(lines.map((line) => countIn(request, line))).toEqual([1, 1, 0, 0]);
    });

    it("is not held up by a hook that finds nothing, or a memory directory that is none", async () => {
      const desk = await open(...ALL);
      desk.put(path.relative(desk.top, desk.dir()), "a file where the directory should be");
      desk.server.queue({ tools: [host.shell("echo hello")] }, { text: "I do not know." });
      const { out } = await host.start(desk, PROMPT);
      expect(out).toContain("I do not know.");
      expect(desk.asked()).toHaveLength(2);
    });

    it("is denied a call that a rule forbids, and told why; others are not", async () => {
      const desk = await open("before-tool");
      desk.put(path.relative(desk.top, path.join(desk.dir(), "keep_archive.md")), RULE);
      desk.put("project/archive/old.txt", "kept");
      desk.server.queue(
        { tools: [host.shell("rm -r archive")] },
        { tools: [host.shell("printf 'it is %s' allowed")] },
        { text: "Kept." },
      );
      await host.start(desk, "clean up");
      const [, denied, allowed] = desk.asked();
      expect(countIn(denied, MESSAGE)).toBe(1);
      expect(countIn(allowed, "it is allowed")).toBeGreaterThan(0);
      expect(fs.existsSync(desk.at("project", "archive", "old.txt"))).toBe(true);
    });

    it.runIf(host.hasReadableTranscript)(
      "what the user said is kept after the end of the turn, by a process that outlives the client",
      async () => {
        const desk = await open("prompt", "stop");
        desk.server.queue({ text: "Understood." });
        await host.start(desk, "remember that we never use npm here, always pnpm");
        await untilExtracted(desk);
        expect(JSON.stringify(await desk.json(["list"]))).toContain("pnpm");

        desk.server.queue({ text: "With pnpm." });
        await host.start(desk, "install the dependencies, with npm or pnpm?", NOT_LEARNING);
        expect(countIn(desk.asked().at(-1), "never use npm")).toBeGreaterThan(0);
      },
    );
  });
}
