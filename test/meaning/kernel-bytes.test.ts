import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { build } from "../../scripts/build-kernel.mjs";

it("kernel-bytes.ts is what the .as files compile to", async () => {
  const file = path.resolve(import.meta.dirname, "../../src/meaning/kernel-bytes.ts");
  const fresh = (await build()) === readFileSync(file, "utf8");
  expect(fresh, "run node scripts/build-kernel.mjs").toBe(true);
});
