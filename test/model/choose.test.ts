import { describe, expect, it } from "vitest";
import { chooseModel, type ModelChoice } from "../../src/model/choose.ts";
import { bad, good, KEY, request, useTalk } from "./talk.ts";

const talk = useTalk();

function chosen(env: Record<string, string>): ModelChoice {
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

  it("looks for Ollama on this machine", async () => {
    const ask = await chosen({ MEMDIR_MODEL: "ollama/x", OPENAI_API_KEY: KEY }).open();
    const signal = AbortSignal.timeout(2000);
    const { error } = bad(await ask(request({ signal })));
    expect(error.message).toMatch(/Ollama.* at http:\/\/127\.0\.0\.1:11434\/v1|stopped/);
  });
});
