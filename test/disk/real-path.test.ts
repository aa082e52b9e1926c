import fs from "node:fs";
import { expect, it } from "vitest";
import { isWithin, realPath } from "../../src/disk/fence.ts";
import { makeFixture } from "../project/fixture.ts";

it("resolves links of the part that exists, and follows dangling ones", () => {
  const f = makeFixture();
  fs.symlinkSync(f.home, f.at("link"));
  fs.symlinkSync("nowhere/x", f.at("dangling"));
  fs.symlinkSync(f.at("loop"), f.at("loop"));
  expect(realPath(f.at("link/a/b"))).toBe(f.at("home/a/b"));
  expect(realPath(f.at("dangling/y"))).toBe(f.at("nowhere/x/y"));
  expect(realPath(f.at("loop/y"))).toBe(f.at("loop/y"));
});

it("isWithin is not fooled by a common prefix", () => {
  expect(isWithin("/a/b", "/a/b")).toBe(true);
  expect(isWithin("/a/b", "/a/b/c")).toBe(true);
  expect(isWithin("/a/b", "/a/b/..c")).toBe(true);
  expect(isWithin("/a/b", "/a/bc")).toBe(false);
  expect(isWithin("/a/b", "/a")).toBe(false);
});
