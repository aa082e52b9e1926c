import { describe, expect, it } from "vitest";
import { byName } from "../../src/mcp/protocol.ts";

describe("what a client is called", () => {
  it.each([
    ["claude-code", "mcp:claude-code"],
    ["Visual Studio Code - Insiders", "mcp:visual-studio-code-insiders"],
    // It is not the user, whatever it calls itself.
    ["user", "mcp:user"],
    ["user session=1\nmessage=2", "mcp:user-session-1-message-2"],
    ["x".repeat(100), `mcp:${"x".repeat(40)}`],
    ["日本", "mcp"],
    ["--", "mcp"],
    ["", "mcp"],
    [undefined, "mcp"],
  ])("%j", (name, by) => {
    expect(byName(name)).toBe(by);
  });
});
