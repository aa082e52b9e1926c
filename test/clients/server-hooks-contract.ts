/** Hooks that a client runs through memdir's server, as `memdir init` wires them; what happens without the server, and the way back. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { findClient } from "../../scripts/install-clients.mjs";
import { countIn, type Desk, describeClient, NOT_LEARNING, openDesk, untilExtracted } from "./client.ts";
import { MESSAGE, RULE } from "./hook-contract.ts";
import type { Host } from "./host.ts";

const PROMPT = "how do we deploy with kubectl to staging?";
const BODY = "Deploy with kubectl, context heron, never on a Friday.";

export interface ServerHooks {
  /** The client's program as it is called on PATH, and the file that its hooks are in, below the home. */
  program: string;
  file: string;
  /** Switches memdir's server off, as the client itself does. */
  switchOff(desk: Desk): void;
}

export function describeServerHooks(host: Host, { program, file, switchOff }: ServerHooks): void {
  /** The client on PATH, so that `memdir init` can ask for its version. */
  function installed(desk: Desk): { PATH: string } {
    const client = findClient(host.name);
    const line = [client?.program, ...(client?.args ?? [])].map((part) => `"${part}"`).join(" ");
    fs.chmodSync(desk.put(`bin/${program}`, `#!/bin/sh\nexec ${line} "$@"\n`), 0o755);
    return { PATH: `${desk.at("bin")}${path.delimiter}${desk.env.PATH}` };
  }
  const init = (desk: Desk, ...more: string[]) =>
    desk.json(["init", "--yes", "--agent", host.agent, ...more], { env: installed(desk) });
  const hooksIn = (desk: Desk): string => fs.readFileSync(desk.at("home", file), "utf8");
  const formOf = (desk: Desk, event: string): string => JSON.parse(hooksIn(desk)).hooks[event].at(-1).hooks[0].type;
  const putRule = (desk: Desk) => desk.put(path.relative(desk.top, path.join(desk.dir(), "keep_archive.md")), RULE);

  async function open(options: { learns?: boolean } = {}): Promise<Desk> {
    const desk = await openDesk(host.name, options);
    host.prepare(desk);
    return desk;
  }

  async function expectDenied(desk: Desk): Promise<void> {
    desk.put("project/archive/old.txt", "kept");
    const before = desk.asked().length;
    desk.server.queue(
      { tools: [host.shell("rm -r archive")] },
      { tools: [host.shell("printf 'it is %s' allowed")] },
      { text: "Kept." },
    );
    // Too little for recall, which would show the same memory.
    await host.start(desk, "hello");
    const [, denied, allowed] = desk.asked().slice(before);
    expect([countIn(denied, MESSAGE), countIn(allowed, "it is allowed") > 0]).toEqual([1, true]);
    expect(fs.existsSync(desk.at("project", "archive", "old.txt"))).toBe(true);
  }

  const wiringChecks = async (desk: Desk): Promise<string[]> => {
    const { out } = await desk.run(["doctor", "--json"], { env: installed(desk) });
    const { checks } = JSON.parse(out) as { checks: { name: string; ok: boolean; detail: string }[] };
    return checks.filter(({ name, ok }) => name === "wiring" && !ok).map(({ detail }) => detail);
  };

  describeClient(host.name, () => {
    it("is shown through the server what helps with the prompt, and doctor finds it well", async () => {
      const desk = await open();
      await desk.save("deploy-staging", ["--type", "project"], BODY);
      await init(desk);
      expect([formOf(desk, "UserPromptSubmit"), formOf(desk, "SessionStart")]).toEqual(["mcp_tool", "command"]);
      desk.server.queue({ text: "With kubectl." });
      const { out } = await host.start(desk, PROMPT);
      expect(out).toContain("With kubectl.");
      expect(desk.asked().map((request) => countIn(request, BODY))).toEqual([1]);
      expect(await wiringChecks(desk)).toEqual([]);
    });

    it("is denied a call that a rule forbids: by the server, and after memdir init by a command", async () => {
      const desk = await open();
      await init(desk);
      expect(formOf(desk, "PreToolUse")).toBe("mcp_tool");
      putRule(desk);
      await expectDenied(desk);
      expect(await wiringChecks(desk)).toEqual([expect.stringContaining("enforced rules do not hold when")]);
      await init(desk);
      expect(formOf(desk, "PreToolUse")).toBe("command");
      await expectDenied(desk);
    });

    it("goes on without a server that is switched off; rules hold, doctor reports it, and init goes back to commands", async () => {
      const desk = await open();
      await desk.save("deploy-staging", ["--type", "project"], BODY);
      putRule(desk);
      await init(desk);
      switchOff(desk);
      desk.server.queue({ text: "I do not know." });
      await host.start(desk, PROMPT);
      expect(desk.asked().map((request) => countIn(request, BODY))).toEqual([0]);
      await expectDenied(desk);
      expect(await wiringChecks(desk)).toContainEqual(
        expect.stringContaining("memdir's server, which is switched off"),
      );
      await init(desk, "--hooks", "command");
      expect(hooksIn(desk)).not.toContain("mcp_tool");
      desk.server.queue({ text: "With kubectl." });
      await host.start(desk, PROMPT);
      expect(countIn(desk.asked().at(-1), BODY)).toBe(1);
    });

    it("what the user said is kept after the end of the turn, through the server", async () => {
      const desk = await open({ learns: true });
      await init(desk);
      desk.server.queue({ text: "Understood." });
      await host.start(desk, "remember that we never use npm here, always pnpm");
      await untilExtracted(desk);
      expect(JSON.stringify(await desk.json(["list"]))).toContain("pnpm");
      desk.server.queue({ text: "With pnpm." });
      await host.start(desk, "install the dependencies, with npm or pnpm?", NOT_LEARNING);
      expect(countIn(desk.asked().at(-1), "never use npm")).toBeGreaterThan(0);
    });
  });
}
