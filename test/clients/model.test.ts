/** The four clients as memdir's model, by the same contract. */

import { expect, it } from "vitest";
import { describeClient, openDesk, until, untilExtracted } from "./client.ts";
import { claudeCode } from "./hosts/claude-code.ts";
import { codex } from "./hosts/codex.ts";
import { geminiCli } from "./hosts/gemini-cli.ts";
import { opencode } from "./hosts/opencode.ts";
import { type AsModel, describeModel, formOf, KEPT, putProgram } from "./model-contract.ts";

const QUIET = { DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" };

const claude: AsModel = {
  host: claudeCode,
  model: "claude-code",
  known: "claude-code/haiku",
  env: ({ server }) => ({ ...QUIET, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-test" }),
  loggedOut: () => ({ ANTHROPIC_API_KEY: "" }),
  // Its form is a tool that it adds, and answers itself.
  formed: (input) => ({ tools: [{ name: "StructuredOutput", input }] }),
  tools: ["DeferredToolPlaceholder", "StructuredOutput"],
};

describeModel(claude);

describeClient("claude-code", () => {
  it("learns from its own turn by itself, as the user allowed, once, and a limit ends that for the day", async () => {
    const desk = await openDesk("claude-code", { learns: true, isModel: true });
    claudeCode.prepare(desk);
    await desk.json(["init", "--yes", "--agent", "claude-code", "--learn-with", "claude-code"]);
    const PATH = putProgram(desk, "claude-code");
    desk.server.queue({ text: "Understood." }, formOf(claude, { memories: [KEPT] }));
    await claudeCode.start(desk, "no, never use npm here, use pnpm instead", { PATH });
    await untilExtracted(desk);
    expect(await desk.json(["list"])).toMatchObject([{ name: KEPT.name }]);
    expect(desk.server.requests).toHaveLength(2);
    const ledger = async () => (await desk.json(["ledger"])).entries;
    const calls = (await ledger()).filter(({ skipped }: { skipped: string | null }) => skipped === null);
    expect(calls).toMatchObject([{ kind: "extraction", model: "claude-code/haiku" }]);

    // It tries three times.
    const limited = { status: 429, message: "usage limit reached" };
    desk.server.queue({ text: "Fine." }, limited, limited, limited);
    await claudeCode.start(desk, "in this project we deploy on Mondays only", { PATH });
    let known = "";
    const ended = async () => (await ledger()).find(({ endsDay }: { endsDay?: true }) => endsDay)?.skipped ?? "";
    await until(
      async () => /^Claude Code has reached the limit of your account/.test(await ended()),
      () => "the end of the day's learning",
    );
    const asked = desk.server.requests.length;
    desk.server.queue({ text: "Fine again." });
    await claudeCode.start(desk, "we never deploy on Fridays", { PATH });
    await until(
      async () => {
        known = JSON.stringify(await ledger());
        return /no more background work today/.test(known);
      },
      () => `the reason why nothing was asked; ${known}`,
    );
    expect(desk.server.requests).toHaveLength(asked + 1);
  });
});

describeModel({
  host: codex,
  model: "codex",
  known: "codex/default",
  env: () => ({ FAKE_KEY: "sk-test" }),
  formed: (value) => ({ text: JSON.stringify({ ...value, n: null }) }),
  // Nobody is there to be asked.
  tools: ["request_user_input"],
});

describeModel({
  host: geminiCli,
  model: "gemini-cli/gemini-2.5-flash",
  known: "gemini-cli/gemini-2.5-flash",
  env: ({ server }) => ({ GEMINI_API_KEY: "sk-test", GOOGLE_GEMINI_BASE_URL: server.url }),
  // Of an empty folder.
  tools: ["list_directory"],
});

describeModel({
  host: opencode,
  model: "opencode/fake/fake-model",
  known: "opencode/fake/fake-model",
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  tools: [],
});
