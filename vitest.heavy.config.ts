import { defineConfig } from "vitest/config";
import base, { HEAVY } from "./vitest.config.ts";

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: HEAVY,
    exclude: [],
    // Two files side by side take half the time, and no test measures it.
    maxWorkers: 2,
    // A process of its own for each: some look at how long their process has been running.
    isolate: true,
    fileParallelism: true,
    // CI ends the whole run before this: what hangs is killed by its own test.
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    passWithNoTests: true,
  },
});
