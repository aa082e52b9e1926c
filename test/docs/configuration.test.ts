/** docs/configuration.md is made of the table of settings: `npx vitest run test/docs/configuration.test.ts --update` writes it anew. */

import { expect, it } from "vitest";
import { isSetting, SETTINGS, type SettingTable } from "../../src/config.ts";

const HEAD = `# Settings

memdir's own settings are in \`memdir.json\`: yours in \`~/.claude/memdir.json\`, a project's in \`.claude/memdir.json\` of its repository. What the project's file sets counts over yours, and the environment over both. A value that is not what it must be is ignored, and every command says so. A name with a dot is a key inside an object: \`index.maxLines\` is \`{ "index": { "maxLines": … } }\`.

This page is made of the table in \`src/config.ts\`.
`;

it("docs/configuration.md has every setting", async () => {
  const page = `${HEAD}
## What you and a repository may set

${tableOf(SETTINGS.shared)}

## What only you may set

A repository's file that has one of these is reported and not followed.

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
