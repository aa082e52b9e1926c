import { defineConfig } from "vitest/config";
import { cacheFolder } from "./scripts/install-clients.mjs";

// Before the other settings are read: they take the person's settings and home away.
const cache = cacheFolder();
const { default: base } = await import("./vitest.config.ts");

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ["test/clients/**/*.test.ts"],
    exclude: [],
    // Each client is a large program; two at once would only wait for one another.
    maxWorkers: 1,
    fileParallelism: false,
    isolate: true,
    // Large programs with timers of their own on a busy machine: what fails twice more is a fault.
    retry: 2,
    testTimeout: 180_000,
    hookTimeout: 60_000,
    env: { ...base.test?.env, MEMDIR_CLIENTS_CACHE: cache },
  },
});
