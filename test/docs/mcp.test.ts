/** docs/mcp.md is generated from the table of tools: `npx vitest run test/docs/mcp.test.ts --update` writes it again. */

import { expect, it } from "vitest";
import { RESOURCE_TEMPLATES } from "../../src/mcp/resources.ts";
import { MODEL_TOOLS } from "../../src/mcp/tools.ts";
import { MCP_PROMPT_WORDS } from "../../src/prompts/mcp.ts";

const HEAD = `# The MCP server

\`memdir mcp\` serves on standard input and output, and \`memdir mcp --http\` on loopback with a token. \`memdir init\` adds it to your agents; see [connect.md](connect.md#mcp-server) for how it behaves. This page is generated from the tables in \`src/mcp/\`: it shows exactly what a model reads.

## Tools`;

const PROMPTS =
  "These are for people to pick in a host. `health` and `recent` include the result of the command. Learning from past sessions (`memdir learn`) is not offered, because it reads the transcripts of other conversations and a person decides about each proposal. `remember` without an argument learns from this conversation.";

interface Property {
  type?: string | readonly string[];
  description?: string;
  enum?: readonly string[];
}

it("docs/mcp.md has every tool, its input, the prompts and the resources", async () => {
  const tools = MODEL_TOOLS.map(({ spec: { name, title, description, inputSchema, annotations } }) => {
    const { properties, required = [] } = inputSchema as {
      properties: Readonly<Record<string, Property>>;
      required?: readonly string[];
    };
    const inputs = Object.entries(properties).map(([key, { type, description: says = "", enum: options }]) => {
      const kind = options ? options.map((each) => `\`${each}\``).join(", ") : String(type);
      return `- \`${key}\` (${kind}${required.includes(key) ? ", required" : ""}): ${says}`;
    });
    const hint = annotations.readOnlyHint ? "It changes nothing." : "It changes memories.";
    return [`### ${name}`, `${title}. ${hint}`, description, inputs.join("\n")].join("\n\n");
  });
  const resources = RESOURCE_TEMPLATES.map(
    ({ uriTemplate, description }) => `- \`${uriTemplate}\`: ${description}. Names are completed.`,
  );
  const prompts = Object.entries(MCP_PROMPT_WORDS).map(([name, { title, description, argument }]) =>
    `- \`${name}\`: ${title} ${description}.${argument ? ` \`${argument.name}\`: ${argument.description}.` : ""}`.replace(
      /(?<=: [^?]*[^?.:])(?= [A-Z])/,
      ".",
    ),
  );
  const text = [
    HEAD,
    ...tools,
    "## Prompts",
    PROMPTS,
    prompts.join("\n"),
    "## Resources",
    ["- `memory://index`: the index of memories, MEMORY.md.", ...resources].join("\n"),
  ];
  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/mcp.md");
});
