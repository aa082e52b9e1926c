import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

// Tests see an empty home and no settings of the person who runs them; programs they start inherit this.
const home = mkdtempSync(path.join(os.tmpdir(), "memdir-test-home-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
for (const name of Object.keys(process.env)) {
  if (/^(MEMDIR_|CLAUDE|ANTHROPIC_|OPENAI_|XDG_|GIT_)/.test(name)) delete process.env[name];
}

// What takes long: whole programs on terminals, hostile worlds, thousands of runs. `npm run test:heavy` runs these.
export const HEAVY = [
  "test/heavy/**/*.test.ts",
  "test/**/hostile-*.test.ts",
  "test/cli/{agent,console,dream,enrich,extract,help,learn,names,projects,promote,scopes}.test.ts",
  "test/learn/dream-apply.test.ts",
  "test/mcp/process.test.ts",
  "test/package/pack.test.ts",
  "test/team/{git-remote,git-remote-contract,repository,server-remote-contract,sync-schedules}.test.ts",
  "test/team/server/{data-folder,data-pglite,security}.test.ts",
  "test/memory/random.test.ts",
  "test/store/full-index.test.ts",
];

export default defineConfig({
  define: { __MEMDIR_VERSION__: JSON.stringify(version) },
  test: {
    setupFiles: ["test/setup.ts"],
    include: ["test/**/*.test.ts"],
    exclude: [...HEAVY, "test/clients/**", "test/team-quick-start/**", "test/ui/**"],
    pool: "forks",
    // Every file in a world of its own would load everything anew, a quarter of the time. Nothing in src keeps state that tests share.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: {
      HOME: home,
      USERPROFILE: home,
      NO_COLOR: "1",
      TZ: "UTC",
      // Adds 55 ms to every start of Node 20, and no test talks to the network.
      NODE_EXTRA_CA_CERTS: "",
      npm_config_offline: "true",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "test",
      GIT_AUTHOR_EMAIL: "test@example.invalid",
      GIT_COMMITTER_NAME: "test",
      GIT_COMMITTER_EMAIL: "test@example.invalid",
    },
  },
});
