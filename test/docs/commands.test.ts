/** docs/commands.md is generated from the table of commands: `npx vitest run test/docs/commands.test.ts --update` writes it again. */

import { expect, it } from "vitest";
import { COMMON, ownOptions, usageOf } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/run.ts";
import type { Field, Fields } from "../../src/verb.ts";
import { GROUPS } from "../../src/verbs/table.ts";

const HEAD = `# The command line

\`memdir [command] [options]\`. Without a command, it opens the console. \`memdir COMMAND --help\` prints the same information as below.
Exit codes: 0 done, 1 a check found problems, 2 bad input, 3 the disk, a lock or the network failed.

This page is generated from the table in \`src/verbs/table.ts\`.

Every command accepts these options, before or after its name:

${optionsOf(COMMON)}
`;

it("docs/commands.md has every command", async () => {
  const groups = Object.entries(GROUPS).map(async ([group, title]) => {
    const rows = COMMANDS.filter((row) => row.group === group);
    return [`## ${title}`, ...(await Promise.all(rows.map(describeCommand)))].join("\n\n");
  });
  await expect(`${[HEAD.trimEnd(), ...(await Promise.all(groups))].join("\n\n")}\n`).toMatchFileSnapshot(
    "../../docs/commands.md",
  );
});

async function describeCommand({ name, summary, aliases = [], load }: (typeof COMMANDS)[number]): Promise<string> {
  const definition = await load();
  const also = aliases.length > 0 ? ` Also: ${aliases.map((alias) => `\`${alias}\``).join(", ")}.` : "";
  const calls = [...new Set([usageOf(name, definition), ...definition.examples.map(shown)])].join("\n");
  return [
    `### ${name}`,
    `${summary}.${definition.about ? ` ${definition.about}` : ""}${also}`,
    `\`\`\`sh\n${calls}\n\`\`\``,
    optionsOf(ownOptions(definition)),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function shown(example: string): string {
  return /\bmemdir\b/.test(example) ? example : `memdir ${example}`;
}

function optionsOf(fields: Fields): string {
  return Object.entries<Field>(fields)
    .map(([name, { value, short, help }]) => {
      return `- \`${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}\`: ${help}`;
    })
    .join("\n");
}
