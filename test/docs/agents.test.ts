/** AGENTS.md stays what an agent can read at the start of a session, and the files it leaves out describe themselves. */
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { RANKS } from "../../scripts/layers.mjs";
import { describe as describeFile, listFiles } from "../../scripts/tree.mjs";

const text = fs.readFileSync(new URL("../../AGENTS.md", import.meta.url), "utf8");

describe("AGENTS.md", () => {
  it("is under 8 KB", () => {
    expect(Buffer.byteLength(text)).toBeLessThan(8 * 1024);
  });

  it("names every room of src", () => {
    const rooms = RANKS.flat().filter((room: string) => fs.existsSync(new URL(`../../src/${room}/`, import.meta.url)));
    expect(rooms.filter((room: string) => !text.includes(`${room}/`))).toEqual([]);
  });

  it("leaves the files to their opening sentences: every source file has one", () => {
    expect(listFiles().filter((file) => describeFile(file) === "")).toEqual([]);
  });
});
