/** Which model the environment or the user's settings name, and two ways to ask it: with retries, and one question outside the conversation. */

import { MemdirError } from "../errors.ts";
import type { Env, World } from "../world.ts";
import { type Ask, type AskAnswer, type AskRequest, NO_USAGE, say, textOf } from "./ask.ts";
import { type ClientName, MODEL_CLIENTS } from "./clients.ts";
import { withSchema } from "./schema.ts";

const OPENAI = { key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" };
/** Whose model is asked over the network, and the variables for key and address. Ollama has one of its own, too: see urlVariable. */
const APIS = { anthropic: { key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL" }, openai: OPENAI, ollama: OPENAI };
type Api = keyof typeof APIS;
export type Provider = Api | ClientName;

/** A model that the configuration names, not loaded yet. */
export interface ModelChoice {
  /** As the provider calls it; "default" for the one that a client chooses. */
  name: string;
  /** The company or program that runs it. */
  provider: Provider;
  /** Null: the provider's own. */
  url: string | null;
  /** False for a model that only answers: a request with tools fails. */
  takesTools: boolean;
  /** Loads the provider's SDK; rejects only if the installation is broken. No retries: see withRetries. */
  open: () => Promise<Ask>;
}

/** `setting` counts where the environment names none. Null when no model is named: a key alone, which may be there for another program, must not start to cost money. */
export function chooseModel(
  env: Env,
  setting: string | null = null,
  named = env.MEMDIR_MODEL?.trim() ? "MEMDIR_MODEL" : "learn.model",
): ModelChoice | { problem: string } | null {
  const wanted = env.MEMDIR_MODEL?.trim() || setting?.trim();
  if (!wanted) return null;
  const slash = wanted.indexOf("/");
  const provider = wanted.slice(0, slash < 0 ? wanted.length : slash).toLowerCase();
  const name = slash < 0 ? "" : wanted.slice(slash + 1).trim();
  if (isOneOf(provider, MODEL_CLIENTS)) return chooseClient(provider, name, env);
  if (!isOneOf(provider, APIS) || name === "") {
    const known = slash < 0 ? wanted : "<model>";
    return {
      problem: `${named} is ${JSON.stringify(wanted)}; name the provider and its model: anthropic/${known}, openai/${known} or ollama/${known}, or a client that is logged in: claude-code, codex, gemini-cli, opencode/<provider>/<model>`,
    };
  }
  const key = keyOf(env, provider);
  const url = urlOf(env, provider);
  if ("problem" in key) return key;
  if ("problem" in url) return url;
  const needsKey = provider === "anthropic" || (provider === "openai" && !isLoopback(url.value));
  if (needsKey && key.value === "") {
    return { problem: `${named} is ${JSON.stringify(wanted)}, but ${key.variable} is not set; set it to your key` };
  }
  const open = async () => withSchema(await openProvider(provider, name, key.value, url));
  return { name, provider, url: url.value, takesTools: true, open };
}

function chooseClient(provider: ClientName, name: string, env: Env): ModelChoice | { problem: string } {
  const client = MODEL_CLIENTS[provider];
  // It becomes an argument of the client, where this would be an option.
  if (name.startsWith("-")) return { problem: `${client.title} has no model "${name}"; check the name` };
  if (provider === "opencode" && !name.includes("/")) {
    return {
      problem:
        "OpenCode has no model of its own; name one: opencode/<provider>/<model>, as `opencode models` lists them",
    };
  }
  const model = name || client.model;
  const open = async () => {
    const { openClient } = await import("./client.ts");
    return withSchema(openClient({ client, model, env }), { isTold: client.takesSchema });
  };
  return { name: model || "default", provider, url: null, takesTools: false, open };
}

async function openProvider(provider: Api, model: string, apiKey: string, url: Address): Promise<Ask> {
  const { value: baseUrl, variable: urlVariable } = url;
  const options = { model, apiKey, ...(baseUrl !== null && { baseUrl, urlVariable }) };
  if (provider === "anthropic") return (await import("./anthropic.ts")).openAnthropic(options);
  const { openOpenai } = await import("./openai.ts");
  if (baseUrl === null) return openOpenai(options);
  // A server at another address is not OpenAI, and messages that said so would mislead.
  return openOpenai({ ...options, title: provider === "ollama" ? "Ollama" : new URL(baseUrl).host });
}

function isOneOf<T extends object>(name: string, table: T): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}

/** fetch quotes an invalid header in its error message, key and all; so a key that cannot be sent is refused here. */
function keyOf(env: Env, provider: Api): { variable: string; value: string } | { problem: string } {
  const variable = APIS[provider].key;
  // OpenAI's key is not for Ollama, unless it is reached under OpenAI's variable.
  const value = urlVariable(env, provider) === "OLLAMA_HOST" ? "" : (env[variable]?.trim() ?? "");
  if (/[^\x21-\x7e]/.test(value)) {
    return { problem: `${variable} contains spaces or characters that no key has; copy the key again` };
  }
  return { variable, value };
}

interface Address {
  variable: string;
  /** Null: the provider's own. */
  value: string | null;
}

function urlOf(env: Env, provider: Api): Address | { problem: string } {
  const variable = urlVariable(env, provider);
  const given = env[variable]?.trim() ?? "";
  const text = variable === "OLLAMA_HOST" ? ollamaUrl(given) : given;
  if (!text) return { variable, value: null };
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    const example = variable === "OLLAMA_HOST" ? "127.0.0.1:11434" : "https://host/path";
    return { problem: `${variable} is not an http or https address; write it like ${example}` };
  }
  // Neither would work, and the address is shown in messages.
  if (url.username || url.password || url.search || url.hash) {
    return { problem: `${variable} contains a password, a query or a fragment; leave only scheme, host and path` };
  }
  return { variable, value: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

function urlVariable(env: Env, provider: Api): string {
  const isOwn = provider === "ollama" && (env.OLLAMA_HOST?.trim() || !env.OPENAI_BASE_URL?.trim());
  return isOwn ? "OLLAMA_HOST" : APIS[provider].url;
}

/** What Ollama's server listens on, and where that is reached. */
const REACHED: Readonly<Record<string, string>> = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/** OLLAMA_HOST as Ollama's own client reads it: a host, a host with a port, or a URL, whose scheme then decides the default port. */
function ollamaUrl(given: string): string {
  const bare = given.replace(/^["']+|["']+$/g, "");
  const [, scheme, rest = ""] = /^(?:([a-z]+):\/\/)?(.*)$/is.exec(bare) ?? [];
  const [hostAndPort = "", ...path] = rest.split("/");
  const isBareIpv6 = !hostAndPort.startsWith("[") && hostAndPort.split(":").length > 2;
  const [, host = "", port] = /^(\[.*\]|[^:]*)(?::(.*))?$/s.exec(isBareIpv6 ? `[${hostAndPort}]` : hostAndPort) ?? [];
  const end = port || (scheme === undefined ? "11434" : "");
  const below = [...path, "v1"].filter((part) => part !== "").join("/");
  return `${scheme ?? "http"}://${REACHED[host] ?? host}${end && `:${end}`}/${below}`;
}

function isLoopback(url: string | null): boolean {
  return url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/**
 * An overloaded provider may refuse five times in a row; two minutes is what a person waits: no attempt is started later after the
 * first. How long one takes is limited by its own silence.
 */
const RETRY_BUDGET = { attempts: 6, totalMs: 120_000 };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20_000;

/** Must not throw. Returns the last error when the budget is spent, or at once if the provider asks for a longer wait. */
export function withRetries(ask: Ask, world: Pick<World, "now" | "random" | "sleep">, budget = RETRY_BUDGET): Ask {
  return async (request) => {
    const until = world.now().getTime() + budget.totalMs;
    for (let attempt = 1; ; attempt++) {
      const answer = await ask(request);
      if (answer.ok || !answer.error.retriable) return answer;
      const { error } = answer;
      const waitMs = Math.max(backoffMs(attempt, world.random), error.retryAfterMs ?? 0);
      if (attempt >= budget.attempts || world.now().getTime() + waitMs > until) return gaveUp(answer, attempt);
      request.onRetry?.({ attempt, waitMs, error, spent: answer.partial?.usage ?? NO_USAGE });
      await world.sleep(waitMs, request.signal);
      if (request.signal?.aborted) {
        const message = `stopped while waiting to try again after: ${error.message}`;
        return { ...answer, error: { kind: "aborted", message, retriable: false } };
      }
    }
  };
}

/** Doubles each time; the second half is random, so that many programs do not come back at the same moment. */
function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(full * (0.5 + random() / 2));
}

function gaveUp(answer: Extract<AskAnswer, { ok: false }>, attempts: number): AskAnswer {
  const { error } = answer;
  const wait = error.retryAfterMs ? `; it asks to wait ${Math.ceil(error.retryAfterMs / 1000)} s` : "";
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : "";
  return { ...answer, error: { ...error, message: `${error.message}${wait}${tried}` } };
}

/** Enough for a list of names and for a model that thinks aloud first. */
const MAX_TOKENS = 1024;

/** The model's text, even if it ran into the limit. Rejects with a MemdirError that has the kind of failure in its details. */
export function sideQuery(ask: Ask, maxTokens = MAX_TOKENS) {
  return async (system: string, user: string, signal?: AbortSignal, schema?: AskRequest["schema"]): Promise<string> => {
    const request = { system: system === "" ? [] : [{ text: system }], messages: [say(user)], maxTokens, signal };
    const answer = await ask({ ...request, ...(schema && { schema }) });
    if (!answer.ok) {
      const { kind, message } = answer.error;
      // The caller can fix a wrong key or model; everything else is a failure of the environment.
      const code = kind === "auth" || kind === "bad-request" ? "usage" : "model";
      throw new MemdirError(code, message, { details: answer.error });
    }
    if (answer.stop === "refused") {
      const details = { kind: "refused" };
      throw new MemdirError("usage", "the model declined to answer; ask it in other words", { details });
    }
    return textOf(answer.content);
  };
}
