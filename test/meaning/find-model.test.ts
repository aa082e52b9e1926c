import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findModelDir } from "../../src/meaning/meaning.ts";
import { needModel } from "./model.ts";

describe("findModelDir", () => {
  needModel();

  it("leads to the weights and the tokenizer", () => {
    const folder = findModelDir() as string;
    expect(path.isAbsolute(folder)).toBe(true);
    for (const name of ["model.fp16.safetensors", "tokenizer.json"])
      expect(existsSync(path.join(folder, name))).toBe(true);
  });
});
