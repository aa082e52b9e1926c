/**
 * The command line clients that can be a model: what each is started with, so that it answers once and does nothing else, and how its
 * answer is read. Tried with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0 and OpenCode 1.18.33.
 */

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { homeOf } from "../child-group.ts";
import { attempt } from "../errors.ts";
import type { Env } from "../world.ts";
import { addUsage, countOf, NO_USAGE, readUsage, splitUsage, type Usage } from "./ask.ts";
import { type Schema, strictSchema } from "./schema.ts";

export type ClientName = "claude-code" | "codex" | "gemini-cli" | "opencode";

/** One question to a client. */
export interface ClientCall {
  /** As the client names it; "" for its own choice. */
  model: string;
  /** The user's environment. */
  env: Env;
  /** Where it runs: nothing is there but `files`. */
  cwd: string;
  /** The file with the system text, outside of `cwd`. */
  systemFile: string;
  /** A file that holds the schema as `schemaOf` wrote it. */
  schemaFile: string;
  schema: Schema | undefined;
  /** An id of our own, by which what the session leaves is found. */
  session: string;
  /** The MCP servers that would start with it. */
  servers: readonly string[];
  maxTokens: number;
}

/** What was read of an answer. `problem` is the client's own words, or "" if it only said that it failed. */
export interface Heard {
  text: string;
  usage: Usage;
  stop?: "length" | "refused";
  problem?: string;
  /** That of HTTP, if the client told it. */
  status?: number | null;
  /** It checked the answer against the schema by itself and gave up. */
  isMisfit?: boolean;
}

export interface Client {
  name: ClientName;
  title: string;
  program: string;
  /** What is asked where the user names none: a small one, if the client has a name for it that does not age; else its own choice. */
  model: string;
  /** How the user logs in. */
  login: string;
  /** Whether it passes a schema on by itself. */
  takesSchema: boolean;
  /** One folder for all its runs, where it would keep a record of every new one. */
  place?: (env: Env) => string;
  /** How it lists the MCP servers that can only be switched off by name. */
  servers?: { args: readonly string[]; read: (out: string) => string[] };
  args: (call: ClientCall) => string[];
  env: (call: ClientCall) => Env;
  /** Beside the program, in `cwd`: path and text. */
  files?: Readonly<Record<string, string>>;
  schemaOf?: (schema: Schema) => Schema;
  read: (out: string, said: string) => Heard;
  /** Removes what it wrote about the session and cannot be told not to write. */
  tidy?: (call: ClientCall) => void;
}

const claudeCode: Client = {
  name: "claude-code",
  title: "Claude Code",
  program: "claude",
  model: "haiku",
  login: "run `claude` and log in with /login",
  takesSchema: true,
  args: ({ model, systemFile, schema }) => [
    ...["-p", "--output-format", "json", "--model", model, "--effort", "low", "--system-prompt-file", systemFile],
    ...["--tools", "", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands"],
    // The user's settings may hold the way to log in; what else they hold is off.
    ...["--safe-mode", "--setting-sources", "user", "--settings", '{"disableAllHooks":true}'],
    ...(schema ? ["--json-schema", JSON.stringify(schema)] : []),
  ],
  env: ({ maxTokens }) => ({
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
    // It would try for minutes, and structured output five times, while nobody waits.
    CLAUDE_CODE_MAX_RETRIES: "2",
    MAX_STRUCTURED_OUTPUT_RETRIES: "2",
    // What it thinks counts, too.
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(Math.max(maxTokens, 8_000)),
    DISABLE_AUTOUPDATER: "1",
    // Those of a session that we run in.
    ...Object.fromEntries(INHERITED.map((name) => [name, undefined])),
  }),
  read(out) {
    const result = linesOf(out).findLast(({ type }) => type === "result") ?? {};
    const { is_error, subtype, result: text, structured_output, api_error_status, stop_reason } = result;
    const heard: Heard = {
      text: structured_output === undefined ? String(text ?? "") : JSON.stringify(structured_output),
      usage: readUsage(result.usage),
    };
    if (is_error !== false) {
      const problem = String(text ?? subtype ?? "");
      const isMisfit = subtype === "error_max_structured_output_retries";
      return { ...heard, problem, isMisfit, status: statusOf(api_error_status) };
    }
    if (stop_reason === "max_tokens") return { ...heard, stop: "length" };
    return stop_reason === "refusal" ? { ...heard, stop: "refused" } : heard;
  },
};

const INHERITED = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"];

/** Everything of Codex that is a tool, starts something or adds words. */
const CODEX_FEATURES = [
  ...["hooks", "memories", "plugins", "apps", "shell_tool", "unified_exec", "multi_agent", "goals", "view_image"],
  ...["image_generation", "browser_use", "computer_use", "tool_suggest", "skill_search", "shell_snapshot"],
];

const codex: Client = {
  name: "codex",
  title: "Codex",
  program: "codex",
  model: "",
  login: "run `codex login`",
  takesSchema: true,
  servers: {
    args: ["mcp", "list", "--json"],
    read(out) {
      const names = (JSON.parse(out) as { name: string }[]).map(({ name }) => name);
      const dotted = names.find((name) => /[.=]/.test(name));
      if (dotted) throw new Error(`its MCP server "${dotted}" cannot be switched off because of the dot in its name`);
      return names;
    },
  },
  args: ({ model, systemFile, schemaFile, schema, servers }) => [
    ...["exec", "-", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "-s", "read-only"],
    ...["--color", "never", ...(model ? ["-m", model] : []), ...(schema ? ["--output-schema", schemaFile] : [])],
    // The user's file stays: it says whose servers are asked, which must not be others than the user chose.
    ...[
      `model_instructions_file=${JSON.stringify(systemFile)}`,
      'model_reasoning_effort="low"',
      "project_doc_max_bytes=0",
      "notify=[]",
      'web_search="disabled"',
      "include_environment_context=false",
      "include_permissions_instructions=false",
      "include_apps_instructions=false",
      "skills.include_instructions=false",
      ...servers.map((name) => `mcp_servers.${name}.enabled=false`),
    ].flatMap((setting) => ["-c", setting]),
    ...CODEX_FEATURES.flatMap((feature) => ["--disable", feature]),
  ],
  // Its databases of sessions and logs, too, go with the folder.
  env: ({ systemFile }) => ({ CODEX_SQLITE_HOME: join(systemFile, "..") }),
  schemaOf: strictSchema,
  read(out) {
    const events = linesOf(out);
    const items = events.flatMap(({ type, item }) => (type === "item.completed" ? [item as Json] : []));
    const text = items.findLast(({ type }) => type === "agent_message")?.text;
    const usage = events.findLast(({ type }) => type === "turn.completed")?.usage as Json | undefined;
    const failed = events.findLast(({ type }) => type === "turn.failed" || type === "error");
    return {
      text: typeof text === "string" ? text : "",
      usage: splitUsage({
        input: usage?.input_tokens,
        output: usage?.output_tokens,
        cacheRead: usage?.cached_input_tokens,
        cacheWrite: usage?.cache_write_input_tokens,
      }),
      ...(!usage && { problem: String((failed?.error as Json | undefined)?.message ?? failed?.message ?? "") }),
    };
  },
};

const geminiCli: Client = {
  name: "gemini-cli",
  title: "Gemini CLI",
  program: "gemini",
  model: "flash",
  login: "run `gemini` and log in, or set GEMINI_API_KEY",
  takesSchema: false,
  // It notes every folder that it was ever started in.
  place: (env) => {
    const cache = env.XDG_CACHE_HOME ?? "";
    return join(isAbsolute(cache) ? cache : join(homeOf(env), ".cache"), "memdir", "gemini-model");
  },
  args: ({ model, session }) => [
    ...["-o", "json", "--approval-mode", "default", "-e", "none", "--session-id", session],
    ...(model ? ["-m", model] : []),
  ],
  env: ({ systemFile }) => ({ GEMINI_SYSTEM_MD: systemFile, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
  files: {
    ".gemini/settings.json": JSON.stringify({
      hooksConfig: { enabled: false },
      // One that finds nothing in an empty folder: a request with an empty list of tools is not valid.
      tools: { core: ["list_directory"] },
      mcp: { allowed: ["none"] },
      skills: { enabled: false },
      experimental: { enableAgents: false },
      general: { checkpointing: { enabled: false }, enableAutoUpdate: false },
      context: { includeDirectoryTree: false, discoveryMaxDirs: 0 },
      model: { maxSessionTurns: 1 },
    }),
  },
  read(out, said) {
    const answer = attempt(() => JSON.parse(out) as Json, null);
    const models = Object.values(
      ((answer?.stats as Json | undefined)?.models ?? {}) as Record<string, { tokens?: Json }>,
    );
    const usage = sum(
      models.map(({ tokens = {} }) => {
        const output = countOf(tokens.candidates) + countOf(tokens.thoughts);
        return splitUsage({ input: tokens.prompt, output, cacheRead: tokens.cached });
      }),
    );
    if (typeof answer?.response === "string") return { text: answer.response, usage };
    const told = attempt(() => JSON.parse(said.slice(said.lastIndexOf('{\n  "session_id"'))) as Json, null);
    const error = (told ?? answer)?.error as Json | undefined;
    return { text: "", usage, problem: String(error?.message ?? said), status: statusOf(error?.code) };
  },
  tidy({ env, cwd, session }) {
    const folder = join(
      isAbsolute(env.GEMINI_CLI_HOME ?? "") ? (env.GEMINI_CLI_HOME as string) : homeOf(env),
      ".gemini",
    );
    const known = (JSON.parse(readFileSync(join(folder, "projects.json"), "utf8")) as Json).projects as Json;
    const name = known[cwd];
    // A name, not a path: nothing outside of its own folder is looked at.
    if (typeof name !== "string" || !/^[\w.-]+$/.test(name) || /^\.+$/.test(name)) return;
    const chats = join(folder, "tmp", name, "chats");
    for (const file of readdirSync(chats)) {
      const path = join(chats, file);
      const isOurs = file.endsWith(`-${session.slice(0, 8)}.jsonl`) && readFileSync(path, "utf8").includes(session);
      if (isOurs) rmSync(path);
    }
  },
};

const opencode: Client = {
  name: "opencode",
  title: "OpenCode",
  program: "opencode",
  model: "",
  login: "run `opencode auth login`",
  takesSchema: false,
  servers: {
    args: ["debug", "config", "--pure"],
    read: (out) => Object.keys(((JSON.parse(out) as Json).mcp ?? {}) as object),
  },
  // Its log is where it tells that it is waiting for a limit to pass.
  args: ({ model }) => [
    ...["run", "--format", "json", "--agent", "memdir", "--title", "memdir", "--pure"],
    ...["--print-logs", "--log-level", "WARN", ...(model ? ["-m", model] : [])],
  ],
  env: ({ systemFile, servers }) => ({
    // Sessions are in this database, the login is not.
    OPENCODE_DB: join(systemFile, "..", "opencode.db"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_CLAUDE_CODE: "1",
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      share: "disabled",
      mcp: Object.fromEntries(servers.map((name) => [name, { enabled: false }])),
      agent: {
        memdir: {
          mode: "primary",
          prompt: `{file:${systemFile}}`,
          tools: { "*": false },
          permission: { "*": "deny" },
        },
      },
    }),
  }),
  read(out, said) {
    const events = linesOf(out);
    const parts = (type: string) => events.flatMap((event) => (event.type === type ? [event.part as Json] : []));
    const usage = sum(
      parts("step_finish").map(({ tokens }) => {
        const { input, output, reasoning, cache } = (tokens ?? {}) as Json;
        const { read, write } = (cache ?? {}) as Json;
        const [cacheRead, cacheWrite] = [countOf(read), countOf(write)];
        return { input: countOf(input), output: countOf(output) + countOf(reasoning), cacheRead, cacheWrite };
      }),
    );
    const text = parts("text").map((part) => String(part.text ?? ""));
    if (text.length > 0) return { text: text.join(""), usage };
    const error = events.findLast(({ type }) => type === "error")?.error as Json | undefined;
    const { message, statusCode } = (error?.data ?? {}) as Json;
    return { text: "", usage, problem: String(message ?? error?.name ?? said), status: statusOf(statusCode) };
  },
};

export const MODEL_CLIENTS: Readonly<Record<ClientName, Client>> = {
  "claude-code": claudeCode,
  codex,
  "gemini-cli": geminiCli,
  opencode,
};

type Json = Record<string, unknown>;

/** The objects of a text with one JSON value per line; other lines are a client's warnings. */
function linesOf(out: string): Json[] {
  const values = out
    .split("\n")
    .map((line) => (line.startsWith("{") ? attempt(() => JSON.parse(line) as Json, null) : null));
  return values.filter((value) => value !== null);
}

function sum(usages: readonly Usage[]): Usage {
  return usages.reduce(addUsage, NO_USAGE);
}

/** Clients use small numbers of their own, too. */
function statusOf(value: unknown): number | null {
  return typeof value === "number" && value >= 400 && value < 600 ? value : null;
}
