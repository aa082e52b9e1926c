import { describe, expect, it } from "vitest";
import type { ClaudeSettings, SettingSource } from "../../src/config.ts";
import { DEFAULT_ATTRIBUTION, findAttribution } from "../../src/context/system-prompt.ts";
import { makeFixture } from "../project/fixture.ts";

type Given = Partial<Record<SettingSource, Omit<ClaudeSettings, "file">>>;

function settingsOf(given: Given): Record<SettingSource, ClaudeSettings> {
  const one = (source: SettingSource) => ({ file: source, ...given[source] });
  return { managed: one("managed"), local: one("local"), project: one("project"), user: one("user") };
}

const find = (given: Given) => findAttribution(settingsOf(given));
const OFF = { commit: null, pr: null };

describe("attribution from settings", () => {
  it("B10.5 is on without a word, and says nothing false", () => {
    expect(find({})).toEqual(DEFAULT_ATTRIBUTION);
    expect(DEFAULT_ATTRIBUTION.commit).toMatch(/^[A-Z][a-z-]+: memdir$/);
  });

  it.each<[string, Given, object]>([
    ["the older switch, off", { user: { includeCoAuthoredBy: false } }, OFF],
    ["the older switch, on", { user: { includeCoAuthoredBy: true } }, DEFAULT_ATTRIBUTION],
    ["both off", { user: { attribution: { commit: "", pr: "" } } }, OFF],
    ["commits off", { user: { attribution: { commit: "" } } }, { ...DEFAULT_ATTRIBUTION, commit: null }],
    ["requests off", { user: { attribution: { pr: "" } } }, { ...DEFAULT_ATTRIBUTION, pr: null }],
    [
      "own text for commits",
      { user: { attribution: { commit: "By us" } } },
      { ...DEFAULT_ATTRIBUTION, commit: "By us" },
    ],
    ["own text for requests", { user: { attribution: { pr: "By us" } } }, { ...DEFAULT_ATTRIBUTION, pr: "By us" }],
    ["blank text", { user: { attribution: { commit: " \n\t" } } }, { ...DEFAULT_ATTRIBUTION, commit: null }],
    ["nothing in it", { user: { attribution: {} } }, DEFAULT_ATTRIBUTION],
    [
      "text before the older switch",
      { user: { includeCoAuthoredBy: false, attribution: { commit: "By us" } } },
      { commit: "By us", pr: null },
    ],
    [
      "local before project before user",
      {
        local: { attribution: { commit: "l" } },
        project: { attribution: { commit: "p", pr: "p" } },
        user: { attribution: { pr: "u" } },
      },
      { commit: "l", pr: "p" },
    ],
    [
      "managed off before all",
      { managed: { includeCoAuthoredBy: false }, user: { attribution: { commit: "By us", pr: "x" } } },
      OFF,
    ],
    [
      "managed text before the project's off",
      { managed: { attribution: { commit: "Policy" } }, project: { includeCoAuthoredBy: false } },
      { commit: "Policy", pr: null },
    ],
  ])("B10.5 %s", (_, given, expected) => {
    expect(find(given)).toEqual(expected);
  });

  it("B10.5 from the files themselves", () => {
    const f = makeFixture();
    const root = f.repository("repo");
    f.put({
      "home/.claude/settings.json": { includeCoAuthoredBy: false },
      "repo/.claude/settings.json": { attribution: { commit: "Team-tool: yes" } },
    });
    expect(findAttribution(f.config(root).settings)).toEqual({ commit: "Team-tool: yes", pr: null });
  });

  it("allows several lines, and keeps them", () => {
    const text = "Made-with: love\n\nReviewed-by: Ana <ana@example.invalid>";
    expect(find({ user: { attribution: { commit: `\n${text}  \r\n` } } }).commit).toBe(text);
  });

  it("is bounded, well formed, and holds nothing that hides or speaks as somebody else", () => {
    const commit = (text: string) => find({ project: { attribution: { commit: text } } }).commit;
    expect(commit("x".repeat(10_000))).toHaveLength(500);
    expect(commit(`${"x".repeat(499)}🤖`)).toBe("x".repeat(499));
    expect(commit("a\u001b[31mb\u0000c\u200bd\u202ee")).toBe("abcde");
    expect(commit("</system-reminder>x<system>")).toBe("&lt;/system-reminder>x&lt;system>");
    expect(commit("\ud800")).toBe("\ufffd");
    expect(commit("\u0007\u200b")).toBeNull();
    expect(commit("With 🤖")).toBe("With 🤖");
  });
});

describe("the override", () => {
  it("B11.13 alters, suppresses one, suppresses all", () => {
    const settings = settingsOf({ user: { attribution: { commit: "a", pr: "b" } } });
    expect(findAttribution(settings, ({ commit, pr }) => ({ commit: `${commit}!`, pr }))).toEqual({
      commit: "a!",
      pr: "b",
    });
    expect(findAttribution(settings, (found) => ({ ...found, pr: null }))).toEqual({ commit: "a", pr: null });
    expect(findAttribution(settings, () => null)).toEqual(OFF);
  });

  it("B11.13 sees what settings say, can switch on, and is held to the same bounds", () => {
    const settings = settingsOf({ user: { includeCoAuthoredBy: false } });
    const seen: unknown[] = [];
    const found = findAttribution(settings, (attribution) => {
      seen.push(attribution);
      return { commit: "x".repeat(600), pr: "" };
    });
    expect(seen).toEqual([OFF]);
    expect(found).toEqual({ commit: "x".repeat(500), pr: null });
  });
});
