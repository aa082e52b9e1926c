import { defineConfig } from "vitest/config";

// Before the other settings are read: they take everything named MEMDIR_ away.
const { MEMDIR_CHROMIUM = "/usr/bin/chromium", MEMDIR_UI_PICTURES = "" } = process.env;
const { default: base } = await import("./vitest.config.ts");

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ["test/ui/**/*.test.ts"],
    exclude: [],
    // A browser and its server fill a small machine.
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    // A whole browser on a busy machine: what fails twice is a fault.
    retry: 1,
    expect: { poll: { timeout: 60_000, interval: 30 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    env: { ...base.test?.env, MEMDIR_CHROMIUM, MEMDIR_UI_PICTURES },
  },
});
