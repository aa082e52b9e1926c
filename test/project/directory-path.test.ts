import { describe, expect, it } from "vitest";
import { checkDirectoryPath, refusedName } from "../../src/project/locate.ts";

const HOME = "/home/me";
const posix = (value: string, repository: string | null = null) =>
  checkDirectoryPath(value, HOME, { platform: "linux", repository });
const windows = (value: string) => checkDirectoryPath(value, "C:\\Users\\me", { platform: "win32" });

describe("checkDirectoryPath", () => {
  it.each([
    ["/data/mem", "/data/mem"],
    ["/data/mem/", "/data/mem"],
    ["/data/x/../mem", "/data/mem"],
    ["/data//./mem", "/data/mem"],
    ["~/mem", "/home/me/mem"],
    ["~/a/../mem", "/home/me/mem"],
    ["~/..mem", "/home/me/..mem"],
    ["/data/cafe\u0301", "/data/caf\u00e9"],
    ["/home/me/mem", "/home/me/mem"],
    ["/home/me2", "/home/me2"],
  ])("takes %s", (value, path) => {
    expect(posix(value)).toEqual({ path });
  });

  it.each([
    ["", "empty"],
    ["mem", "relative"],
    ["./mem", "relative"],
    ["../mem", "relative"],
    ["C:\\mem", "relative"],
    ["/", "root"],
    ["/a", "root"],
    ["/a/..", "root"],
    ["/data/../..", "root"],
    ["//server/share", "UNC"],
    ["\\\\server\\share", "UNC"],
    ["/data/m\0em", "NUL"],
    ["~", "home directory"],
    ["~/", "home directory"],
    ["~/.", "home directory"],
    ["~/x/..", "home directory"],
    ["~/..", "home directory"],
    ["~/../you", "leaves the home"],
    ["~you/mem", "start with ~/"],
    ["~\\mem", "start with ~/"],
    ["/home/me", "home directory itself"],
    ["/home/me/", "home directory itself"],
    ["/home", "home directory is inside"],
  ])("B1.7 refuses %j", (value, why) => {
    expect(posix(value)).toEqual({ reason: expect.stringContaining(why) });
  });

  it("B1.7 refuses the top of the repository, not a folder below it", () => {
    expect(posix("/src/app", "/src/app")).toEqual({ reason: expect.stringContaining("top of the repository") });
    expect(posix("/src/app/.claude/memory", "/src/app")).toEqual({ path: "/src/app/.claude/memory" });
  });

  it.each([
    ["C:\\mem", "C:\\mem"],
    ["C:/data/mem/", "C:\\data\\mem"],
    ["D:\\x\\..\\mem", "D:\\mem"],
    ["~/mem", "C:\\Users\\me\\mem"],
    ["~\\mem", "C:\\Users\\me\\mem"],
  ])("takes %s on Windows", (value, path) => {
    expect(windows(value)).toEqual({ path });
  });

  it.each([
    ["C:\\", "root of a drive"],
    ["C:/", "root of a drive"],
    ["C:\\x\\..", "root of a drive"],
    ["C:", "relative"],
    ["C:mem", "relative"],
    ["\\mem", "no drive"],
    ["/mem", "no drive"],
    ["\\\\server\\share\\mem", "UNC"],
    ["//server/share", "UNC"],
    ["\\\\?\\C:\\mem", "UNC"],
    ["mem\\x", "relative"],
    ["c:\\users\\ME", "home directory itself"],
    ["C:\\Users", "home directory is inside"],
    ["~\\..", "home directory"],
  ])("B1.7 refuses %s on Windows", (value, why) => {
    expect(windows(value)).toEqual({ reason: expect.stringContaining(why) });
  });
});

describe("refusedName", () => {
  it.each(["app", "-home-me-app", "my.repo", "名前", "100%"])("takes %s", (name) => {
    expect(refusedName(name)).toBeNull();
  });
  it.each([
    "",
    " ",
    ".",
    "..",
    "a/b",
    "a\\b",
    "../x",
    "a\0b",
    "a\nb",
    "%2e%2e%2fx",
    "a%00",
    "a／b",
    "‥",
    "x".repeat(256),
  ])("refuses %j", (name) => {
    expect(refusedName(name)).toEqual(expect.any(String));
  });
});
