import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { build } from "../../scripts/build-kernel.mjs";

it("the files of bytes are what the .as files compile to", async () => {
  for (const [file, text] of Object.entries(await build())) {
    const kept = readFileSync(path.resolve(import.meta.dirname, "../..", file), "utf8");
    expect(kept === text, `${file}: run node scripts/build-kernel.mjs`).toBe(true);
  }
});
