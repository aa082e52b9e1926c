/** The installer of the clients: what is there stays, what cannot be installed is told and leaves nothing behind. */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findClient } from "../../scripts/install-clients.mjs";
import { start } from "../cli/run.ts";
import { makeTemporary } from "../temporary.ts";

const INSTALLER = fileURLToPath(new URL("../../scripts/install-clients.mjs", import.meta.url));

/** npm finds nothing: no network, and a cache that is empty. */
function install(cache: string, args: string[], env: Record<string, string> = {}) {
  const offline = { npm_config_offline: "true", npm_config_cache: path.join(cache, "npm"), HOME: cache };
  const base = { PATH: process.env.PATH ?? "", MEMDIR_CLIENTS_CACHE: cache, ...offline };
  return start(process.execPath, [INSTALLER, ...args], "", cache, { ...base, ...env });
}

describe("the installer", () => {
  it("says what it cannot install and why, and leaves nothing half done", async () => {
    const cache = makeTemporary("clients");
    const ran = await install(cache, ["codex"]);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^clients: codex \S+: installing into /);
    expect(ran.err).toMatch(/^clients: codex \S+ cannot be installed, its tests are skipped: /);
    expect(fs.readdirSync(cache).filter((name) => name.includes("codex"))).toEqual([]);
    expect(findClient("codex", cache)).toBe(null);
  });

  it.runIf(process.platform === "linux" && process.arch === "x64")(
    "fails in CI, where every client must be there",
    async () => {
      expect((await install(makeTemporary("clients"), ["codex"], { CI: "true" })).code).toBe(1);
    },
  );

  it("leaves what is there, and sweeps what was left half done long ago", async () => {
    const cache = makeTemporary("clients");
    const folder = path.join(cache, "codex-0.166.0");
    const [fresh, old] = [path.join(cache, ".codex-new"), path.join(cache, ".codex-old")];
    for (const made of [folder, fresh, old]) fs.mkdirSync(made);
    fs.utimesSync(old, 1, 1);
    fs.writeFileSync(path.join(folder, "complete.json"), JSON.stringify({ program: "codex.js" }));
    const ran = await install(cache, ["codex", "inspector"]);
    expect(ran.out).toMatch(/^clients: codex \S+: there\nclients: inspector /);
    expect(findClient("codex", cache)).toEqual({ program: process.execPath, args: [path.join(folder, "codex.js")] });
    expect([fs.existsSync(fresh), fs.existsSync(old)]).toEqual([true, false]);
  });

  it("knows its clients", async () => {
    expect(await install(makeTemporary("clients"), ["cursor"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^clients: no client "cursor"; there are claude-code, /),
    });
  });
});
