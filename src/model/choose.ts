/** Which model is asked: MEMDIR_MODEL names it, keys and addresses come from the environment. */

import type { Ask } from "./ask.ts";

export type Provider = "anthropic" | "openai" | "ollama";

export interface ModelChoice {
  /** As the provider calls it. */
  name: string;
  provider: Provider;
  /** Loads the provider's SDK; rejects only if the installation is broken. No retries: see withRetries. */
  open: () => Promise<Ask>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Null when none is asked for: a key alone, which may be there for another program, does not start to cost money. */
export function chooseModel(env: Env): ModelChoice | { problem: string } | null {
  const wanted = env.MEMDIR_MODEL?.trim();
  if (!wanted) return null;
  const slash = wanted.indexOf("/");
  const provider = wanted.slice(0, Math.max(0, slash)).toLowerCase();
  const name = wanted.slice(slash + 1).trim();
  if (!isProvider(provider) || name === "") {
    const known = slash < 0 ? name : "<model>";
    return {
      problem: `MEMDIR_MODEL is ${JSON.stringify(wanted)}; name the provider and its model: anthropic/${known}, openai/${known} or ollama/${known}`,
    };
  }
  const key = keyOf(env, provider);
  const url = urlOf(env, provider);
  if ("problem" in key) return key;
  if ("problem" in url) return url;
  const needsKey = provider === "anthropic" || (provider === "openai" && !isLoopback(url.value));
  if (needsKey && key.value === "") {
    return { problem: `MEMDIR_MODEL is ${JSON.stringify(wanted)}, but ${key.variable} is not set; set it to your key` };
  }
  return { name, provider, open: () => openProvider(provider, name, key.value, url.value) };
}

const PROVIDERS: readonly Provider[] = ["anthropic", "openai", "ollama"];

function isProvider(text: string): text is Provider {
  return (PROVIDERS as readonly string[]).includes(text);
}

async function openProvider(provider: Provider, model: string, apiKey: string, url: string | null): Promise<Ask> {
  if (provider === "anthropic") {
    const { openAnthropic } = await import("./anthropic.ts");
    return openAnthropic({ model, apiKey, ...(url !== null && { baseUrl: url }) });
  }
  const { openOpenai, OLLAMA_URL } = await import("./openai.ts");
  if (provider === "ollama") return openOpenai({ title: "Ollama", model, apiKey, baseUrl: url ?? OLLAMA_URL });
  // What stands at another address is not OpenAI, and a message that says so would mislead.
  return openOpenai({ model, apiKey, ...(url !== null && { baseUrl: url, title: new URL(url).host }) });
}

/** Messages of fetch quote a header that it does not take, key and all; so a key that cannot be sent is refused here. */
function keyOf(env: Env, provider: Provider): { variable: string; value: string } | { problem: string } {
  const variable = provider === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  // OpenAI's key is not for Ollama, unless it goes with an address of the user's own.
  const value = provider === "ollama" && !env.OPENAI_BASE_URL ? "" : (env[variable]?.trim() ?? "");
  if (/[^\x21-\x7e]/.test(value)) {
    return { problem: `${variable} holds spaces or characters that no key has; copy the key again` };
  }
  return { variable, value };
}

function urlOf(env: Env, provider: Provider): { value: string | null } | { problem: string } {
  const variable = provider === "anthropic" ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
  const text = env[variable]?.trim();
  if (!text) return { value: null };
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    return { problem: `${variable} is no http or https address; write it like https://host/path` };
  }
  // Neither would work, and an address is shown in messages.
  if (url.username || url.password || url.search || url.hash) {
    return { problem: `${variable} holds a password, a query or a fragment; leave only scheme, host and path` };
  }
  return { value: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

function isLoopback(url: string | null): boolean {
  return url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
