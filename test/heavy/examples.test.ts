/** The examples as a user runs them: real processes with the real SDKs, against the model server on loopback. */
import { spawn } from "node:child_process";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { makeWorld, type World } from "../world.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Made here, so that no scanner of the repository takes it for a real one. */
const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");

const MEMORY = {
  type: "feedback",
  name: "deploys",
  description: "never deploy on a Friday",
  body: "Never deploy on a Friday: the on-call person is alone.",
  when: ["a release is due"],
};

let server: ModelServer;
let world: World;
beforeEach(async () => {
  server = await startModelServer();
  world = makeWorld();
});
afterEach(() => server.close());

/** What it wrote on standard output. */
async function run(example: string, args: string[], input = ""): Promise<string> {
  const env = {
    ...world.env,
    USERPROFILE: world.home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "key",
    OPENAI_BASE_URL: server.openaiUrl,
    OPENAI_API_KEY: "key",
    MODEL: "model-of-the-test",
  };
  const child = spawn(process.execPath, [path.join(ROOT, "examples", example), ...args], { cwd: world.project, env });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => out.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => err.push(chunk));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, err.join("")]).toEqual([0, ""]);
  return out.join("");
}

/** How often a request's messages hold a text. */
function count(request: number, text: string): number {
  return JSON.stringify(server.requests[request]?.body.messages ?? "").split(text).length - 1;
}

describe.each(["anthropic-agent.mjs", "openai-agent.mjs", "ai-sdk-agent.mjs"])("%s", (example) => {
  it("saves what the model asks for, tells it why not, and remembers it in the next session", async () => {
    server.queue(
      { tools: [{ name: "save", input: { ...MEMORY, body: `the token is ${TOKEN}` } }] },
      { tools: [{ name: "save", input: MEMORY }] },
      { text: "Noted." },
    );
    expect(await run(example, [], "Never deploy on a Friday!\n")).toContain("Noted.");
    expect(count(1, "github-token")).toBe(1);
    expect(count(2, "created feedback_deploys.md")).toBe(1);
    expect(world.read("feedback_deploys.md")).toContain(MEMORY.body);
    expect(world.grep(TOKEN)).toEqual([]);

    server.queue({ text: "Better not." }, { text: "On Monday." });
    const said = await run(example, [], "Shall I deploy on Friday?\n\nWhen shall I deploy then?\n");
    expect(said).toBe("Better not.\nOn Monday.\n");
    expect([count(3, MEMORY.body), count(4, MEMORY.body)]).toEqual([1, 1]);
    expect([count(3, "Shall I deploy"), count(4, "Better not."), count(4, "When shall I")]).toEqual([1, 1, 1]);
    expect(server.requests).toHaveLength(5);
  });
});

describe("memory-tool.mjs", () => {
  it("gives the model its memory, and tells it what failed", async () => {
    const memory = (input: object) => ({ tools: [{ name: "memory", input }] });
    server.queue(
      memory({ command: "view", path: "/memories" }),
      memory({ command: "view", path: "/memories/../secrets.txt" }),
      memory({ command: "create", path: "/memories/user.md", file_text: "The user likes tabs.\n" }),
      { text: "I know you now." },
    );
    expect(await run("memory-tool.mjs", ["I like tabs."])).toBe("I know you now.\n");
    const results = server.requests.slice(1).map(({ body }) => body.messages.at(-1).content[0]);
    expect(server.requests[0]?.body.tools).toEqual([{ type: "memory_20250818", name: "memory" }]);
    expect(results[0].content).toContain("0B\t/memories");
    expect([results[1].is_error, results[1].content]).toEqual([true, expect.stringContaining("would escape")]);
    expect(results[2].content).toBe("File created successfully at: /memories/user.md");
    expect([world.read("user.md"), world.index()]).toEqual(["The user likes tabs.\n", "- [user](user.md)\n"]);
  });
});
