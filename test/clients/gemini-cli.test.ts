/** Gemini CLI with our MCP server and our hook. */

import { describeHooks } from "./hook-contract.ts";
import { geminiCli } from "./hosts/gemini-cli.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp } from "./mcp-contract.ts";

describeMcp(geminiCli);
describeHooks(geminiCli);
describeInit(geminiCli);
