import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { chooseModel, type ModelChoice } from "../../src/model/choose.ts";
import type { Env } from "../../src/world.ts";
import { bad, good, KEY, request, useTalk } from "./talk.ts";

const talk = useTalk();

function chosen(env: Env): ModelChoice {
  const choice = chooseModel(env);
  if (!choice || "problem" in choice) throw new Error(`expected a model, got ${JSON.stringify(choice)}`);
  return choice;
}

function problem(env: Record<string, string>): string {
  const choice = chooseModel(env);
  return choice && "problem" in choice ? choice.problem : JSON.stringify(choice);
}

describe("chooseModel", () => {
  it("chooses nothing unasked", () => {
    expect(chooseModel({})).toBeNull();
    expect(chooseModel({ MEMDIR_MODEL: " " })).toBeNull();
    expect(chooseModel({ ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY })).toBeNull();
  });

  it("takes provider and name apart; names may have slashes", () => {
    const env = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY };
    expect(chosen({ ...env, MEMDIR_MODEL: "anthropic/claude-x" })).toMatchObject({
      provider: "anthropic",
      name: "claude-x",
    });
    expect(chosen({ ...env, MEMDIR_MODEL: "openai/meta/llama-4" })).toMatchObject({
      provider: "openai",
      name: "meta/llama-4",
    });
    expect(chosen({ MEMDIR_MODEL: "Ollama/qwen3:8b" })).toMatchObject({ provider: "ollama", name: "qwen3:8b" });
  });

  it.each(["claude-x", "gpt", "/x", "google/x", "anthropic/", "ollama"])(
    "refuses %s and says how it is written",
    (name) => {
      expect(problem({ MEMDIR_MODEL: name, ANTHROPIC_API_KEY: KEY })).toMatch(
        /MEMDIR_MODEL is .*anthropic\/.*openai\/.*ollama\//,
      );
    },
  );

  it("names the key that is missing", () => {
    expect(problem({ MEMDIR_MODEL: "anthropic/x", OPENAI_API_KEY: KEY })).toContain("ANTHROPIC_API_KEY");
    expect(problem({ MEMDIR_MODEL: "openai/x", ANTHROPIC_API_KEY: KEY })).toContain("OPENAI_API_KEY");
    const remote = { MEMDIR_MODEL: "openai/x", OPENAI_BASE_URL: "https://openrouter.ai/api/v1" };
    expect(problem(remote)).toContain("OPENAI_API_KEY");
  });

  it("needs no key for one's own machine", () => {
    for (const host of ["localhost:1234", "127.0.0.1:8000", "[::1]:8000"]) {
      chosen({ MEMDIR_MODEL: "openai/x", OPENAI_BASE_URL: `http://${host}/v1` });
    }
    const anthropic = { MEMDIR_MODEL: "anthropic/x", ANTHROPIC_BASE_URL: "http://127.0.0.1:8000" };
    expect(problem(anthropic)).toContain("ANTHROPIC_API_KEY");
  });

  it("refuses keys and addresses that fetch would quote in its messages", () => {
    const key = problem({ MEMDIR_MODEL: "anthropic/x", ANTHROPIC_API_KEY: "sk-a\nb" });
    expect(key).toMatch(/^ANTHROPIC_API_KEY contains/);
    expect(key).not.toContain("sk-a");
    const url = problem({
      MEMDIR_MODEL: "openai/x",
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: "https://me:hidden@host/v1",
    });
    expect(url).toMatch(/^OPENAI_BASE_URL contains/);
    expect(url).not.toContain("hidden");
    expect(problem({ MEMDIR_MODEL: "anthropic/x", ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "host:80" })).toMatch(
      /^ANTHROPIC_BASE_URL is not an http/,
    );
  });

  it("talks to the address of the environment", async () => {
    const env = {
      ANTHROPIC_API_KEY: `${KEY}\n`,
      ANTHROPIC_BASE_URL: `${talk.server.url}/`,
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: talk.server.openaiUrl,
    };
    for (const model of ["anthropic/claude-x", "openai/gpt-x", "ollama/qwen"]) {
      talk.server.queue({ text: "here" });
      const ask = await chosen({ ...env, MEMDIR_MODEL: model }).open();
      expect(good(await ask(request())).content).toEqual([{ type: "text", text: "here" }]);
      expect(talk.server.requests.at(-1)!.body.model).toBe(model.split("/")[1]);
    }
    expect(talk.server.requests.map(({ body }) => body.max_completion_tokens)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    [undefined, "http://127.0.0.1:11434/v1"],
    ["127.0.0.1:9999", "http://127.0.0.1:9999/v1"],
    ["box", "http://box:11434/v1"],
    [":9999", "http://127.0.0.1:9999/v1"],
    ["0.0.0.0", "http://127.0.0.1:11434/v1"],
    ["0.0.0.0:9999", "http://127.0.0.1:9999/v1"],
    ["::1", "http://[::1]:11434/v1"],
    ["[::]:9999", "http://[::1]:9999/v1"],
    ["http://box:9999/", "http://box:9999/v1"],
    ["http://box", "http://box/v1"],
    ["https://box/behind/", "https://box/behind/v1"],
    [' "box:9999" ', "http://box:9999/v1"],
  ])("looks for Ollama where OLLAMA_HOST says: %s", (host, url) => {
    const env = { MEMDIR_MODEL: "ollama/x", OPENAI_API_KEY: KEY, OPENAI_BASE_URL: host && "http://elsewhere/v1" };
    expect(chosen({ ...env, OLLAMA_HOST: host }).url).toBe(url);
  });

  it("refuses an OLLAMA_HOST that is no address, and names it when nothing answers there", async () => {
    const env = { MEMDIR_MODEL: "ollama/x" };
    expect(problem({ ...env, OLLAMA_HOST: "box:port" })).toMatch(/^OLLAMA_HOST is not .*127\.0\.0\.1:11434/);
    expect(problem({ ...env, OLLAMA_HOST: "me:hidden@box:1" })).not.toContain("hidden");
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    const ask = await chosen({ ...env, OLLAMA_HOST: `127.0.0.1:${port}` }).open();
    const { error } = bad(await ask(request()));
    expect(error.message).toMatch(new RegExp(`Ollama at http://127\\.0\\.0\\.1:${port}/v1.*OLLAMA_HOST`));
  });

  it("sends Ollama no key of OpenAI's", async () => {
    talk.server.queue({ text: "here" });
    const env = { MEMDIR_MODEL: "ollama/x", OPENAI_API_KEY: KEY, OLLAMA_HOST: talk.server.url };
    good(await (await chosen(env).open())(request()));
    expect(JSON.stringify(talk.server.requests.at(-1))).not.toContain(KEY);
  });
});
