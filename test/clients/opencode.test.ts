/** OpenCode with our MCP server and, wired by `memdir init`, our plugin. */

import { opencode } from "./hosts/opencode.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp } from "./mcp-contract.ts";

describeMcp(opencode);
describeInit(opencode);
