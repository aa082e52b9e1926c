/** `memdir init` on a machine with a client: the client then recalls and has our tools; `memdir uninstall` leaves nothing of us. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BINARY } from "../cli/run.ts";
import { countIn, type Desk, describeClient, openDesk } from "./client.ts";
import type { Host } from "./host.ts";
import { spelled } from "./mcp-contract.ts";

const BODY = "Deploy with kubectl, context heron, never on a Friday.";

export function describeInit(host: Host): void {
  describeClient(host.name, () => {
    it("is wired by memdir init, once, and memdir uninstall takes it all back", async () => {
      const desk = await openDesk(host.name);
      host.prepare(desk);
      const before = settingsOf(desk);
      await desk.json(["init", "--yes", "--agent", host.agent]);
      expect(naming(desk)).not.toEqual([]);
      const wired = settingsOf(desk);
      expect(await desk.json(["init", "--yes", "--agent", host.agent])).toMatchObject({ changes: [] });
      expect(settingsOf(desk)).toEqual(wired);
      await desk.json(["uninstall", "--yes"]);
      expect(settingsOf(desk)).toEqual(before);
    });

    it("wired by memdir init it recalls and has our tools, and is as before after memdir uninstall", async () => {
      const desk = await openDesk(host.name);
      host.prepare(desk);
      await desk.save("deploy-staging", ["--type", "project"], BODY);
      await desk.json(["init", "--yes", "--agent", host.agent]);
      desk.server.queue({ text: "With kubectl." });
      await host.start(desk, "how do we deploy with kubectl to staging?");
      const [request] = desk.asked();
      expect(countIn(request, BODY)).toBe(1);
      expect(host.shown(request!)).toEqual(expect.arrayContaining(host.always.map((name) => spelled(host, name))));

      // The client has written into its own files meanwhile.
      await desk.json(["uninstall", "--yes"]);
      expect(naming(desk)).toEqual([]);
      desk.server.queue({ text: "I do not know." });
      await host.start(desk, "how do we deploy with kubectl to staging?");
      const last = desk.asked().at(-1);
      expect([countIn(last, BODY), host.shown(last!).filter((name) => name.includes("memdir"))]).toEqual([0, []]);
    });
  });
}

/** Files of the client that a person would look at: no logs, sessions, caches, and not our own. */
function settingsOf(desk: Desk): Record<string, string> {
  const isSettings = (file: string) =>
    /\.(json|jsonc|toml|md|js)$/.test(file) &&
    !/sessions|projects|[\\/]tmp[\\/]|cache|memdir-|backups|node_modules/.test(file);
  const files = (fs.readdirSync(desk.home, { recursive: true }) as string[]).filter(isSettings).sort();
  return Object.fromEntries(files.map((file) => [file, fs.readFileSync(path.join(desk.home, file), "utf8")]));
}

/** Those of them that lead to our program. */
function naming(desk: Desk): string[] {
  const ours = JSON.stringify(path.dirname(BINARY)).slice(1, -1);
  return Object.entries(settingsOf(desk)).flatMap(([file, text]) => (text.includes(ours) ? [file] : []));
}
