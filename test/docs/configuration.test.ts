/** docs/configuration.md is generated from the table of settings: `npx vitest run test/docs/configuration.test.ts --update` writes it again. */

import { expect, it } from "vitest";
import { isSetting, SETTINGS, type SettingTable } from "../../src/config.ts";

const HEAD = `# Settings

memdir's settings are in \`memdir.json\`: yours in \`~/.claude/memdir.json\`, a project's in \`.claude/memdir.json\` in its repository. The project's file overrides yours, and environment variables override both. An invalid value is ignored, and every command says so. A name with a dot is a key inside an object: \`index.maxLines\` is \`{ "index": { "maxLines": … } }\`.

This page is generated from the table in \`src/config.ts\`.
`;

it("docs/configuration.md has every setting", async () => {
  const page = `${HEAD}
## What you and a repository may set

${tableOf(SETTINGS.shared)}

## What only you may set

If a repository's file sets one of these, memdir reports it and ignores the value.

${tableOf(SETTINGS.private)}
`;
  await expect(page).toMatchFileSnapshot("../../docs/configuration.md");
});

function tableOf(table: SettingTable): string {
  return ["| setting | value | default | variable | |", "|---|---|---|---|---|", ...rowsOf(table, "")].join("\n");
}

function rowsOf(table: SettingTable, above: string): string[] {
  return Object.entries(table).flatMap(([name, each]) => {
    if (!isSetting(each)) return rowsOf(each, `${above}${name}.`);
    const { kind, value, variable, says } = each;
    const cells = [
      `\`${above}${name}\``,
      kind.expected,
      value === null ? "none" : `\`${JSON.stringify(value)}\``,
      variable ? `\`${variable}\`` : "",
      says,
    ];
    return [`| ${cells.join(" | ")} |`];
  });
}
