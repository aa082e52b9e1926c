/** Claude Code itself: it sees what memdir recalls, and memdir sees what it writes. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { countIn, type Desk, describeClient, openDesk, until, untilExtracted } from "./client.ts";
import { describeHooks, HOOK_COMMAND } from "./hook-contract.ts";
import { claudeCode } from "./hosts/claude-code.ts";
import { describeInit } from "./init-contract.ts";
import { describeMcp } from "./mcp-contract.ts";
import { describeServerHooks } from "./server-hooks-contract.ts";

const PROMPT = "how do we deploy with kubectl to staging?";
const BODY = "Deploy with kubectl, context heron, never on a Friday.";

const saveDeploy = (desk: Desk) => desk.save("deploy-staging", ["--type", "project"], BODY);
const noteOf = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: How deploys to staging are done\nmetadata:\n  type: feedback\n---\n\n${body}\n`;
const writeOf = (desk: Desk, file: string, content: string) => ({
  tools: [{ name: "Write", input: { file_path: path.join(desk.dir(), file), content } }],
});

describeMcp(claudeCode);
describeHooks(claudeCode);
describeInit(claudeCode);
describeServerHooks(claudeCode, {
  program: "claude",
  file: ".claude/settings.json",
  switchOff(desk) {
    const state = JSON.parse(fs.readFileSync(desk.at("home", ".claude.json"), "utf8"));
    const project = { ...state.projects?.[desk.cwd], disabledMcpServers: ["memdir"] };
    desk.put("home/.claude.json", { ...state, projects: { ...state.projects, [desk.cwd]: project } });
  },
});

describeClient("claude-code", () => {
  it("is shown by our hook what helps with the prompt, and the index once, by itself", async () => {
    const desk = await openDesk("claude-code");
    await saveDeploy(desk);
    claudeCode.prepare(desk, { hook: { command: HOOK_COMMAND, moments: ["prompt"] } });
    desk.server.queue({ text: "With kubectl." });
    const { out } = await claudeCode.start(desk, PROMPT);
    expect(out).toBe("With kubectl.\n");
    expect(desk.asked()).toHaveLength(1);
    const [request] = desk.asked();
    const recalled = request!.body.messages.filter((message: unknown) => JSON.stringify(message).includes(BODY));
    expect(recalled).toHaveLength(1);
    expect(JSON.stringify(recalled)).toContain("UserPromptSubmit hook additional context: ");
    const line = fs.readFileSync(path.join(desk.dir(), "MEMORY.md"), "utf8").trim();
    expect([line.includes("deploy-staging"), countIn(request, line)]).toEqual([true, 1]);
  });

  it("writes a memory that memdir lists, with its frontmatter intact, and recalls to it", async () => {
    const desk = await openDesk("claude-code");
    claudeCode.prepare(desk, { hook: { command: HOOK_COMMAND, moments: ["prompt"] } });
    desk.server.queue(writeOf(desk, "deploy-rule.md", noteOf("deploy-rule", BODY)), { text: "Noted." });
    await claudeCode.start(desk, "please note how we deploy");
    const file = path.join(desk.dir(), "deploy-rule.md");
    const written = fs.readFileSync(file, "utf8");
    // What the client makes of a memory; no test of ours writes it.
    expect(written).toMatch(/^ {2}node_type: memory$/m);
    expect(written).toMatch(/^ {2}originSessionId: \S+$/m);

    const rows = await desk.json(["list"]);
    expect(rows).toEqual([
      expect.objectContaining({
        name: "deploy-rule",
        description: "How deploys to staging are done",
        type: "feedback",
        problems: [],
      }),
    ]);
    expect(fs.readFileSync(file, "utf8")).toBe(written);

    desk.server.queue({ text: "With kubectl." });
    await claudeCode.start(desk, PROMPT);
    expect(countIn(desk.asked().at(-1), BODY)).toBe(1);
  });

  it("keeps its own fields when memdir updates what it wrote", async () => {
    const desk = await openDesk("claude-code");
    desk.server.queue(writeOf(desk, "deploy-rule.md", noteOf("deploy-rule", BODY)), { text: "Noted." });
    await claudeCode.start(desk, "please note how we deploy");
    const session = /originSessionId: \S+/.exec(fs.readFileSync(path.join(desk.dir(), "deploy-rule.md"), "utf8"))?.[0];
    const update = ["save", "--type", "feedback", "--name", "deploy-rule", "--description", "How we deploy", "-"];
    await desk.json(update, { input: "Deploy with helm." });
    const updated = fs.readFileSync(path.join(desk.dir(), "deploy-rule.md"), "utf8");
    expect(updated).toContain("node_type: memory");
    expect(updated).toContain(session);
    expect(updated).toContain("Deploy with helm.");
    expect(fs.readdirSync(desk.dir()).sort()).toEqual([".memdir", "MEMORY.md", "deploy-rule.md"]);
  });

  /** Memories without cues would be asked about in the background. */
  const CUES = "when:\n  - before a release\n";

  it("with a model, the same is asked of it, once, and the client's own writes are not extracted again", async () => {
    const desk = await openDesk("claude-code", { learns: true });
    claudeCode.prepare(desk, { hook: { command: HOOK_COMMAND, moments: ["stop"] } });
    const model = { MEMDIR_MODEL: "anthropic/claude-test" };
    const note = `---\nname: use pnpm\ndescription: npm is not used here\ntype: feedback\nsource: m1\n${CUES}---\n\nNever use npm, use pnpm.\n`;
    desk.server.queue({ text: "Understood." }, writeOf(desk, "use-pnpm.md", note), { text: "Kept one." });
    await claudeCode.start(desk, "no, never use npm here, use pnpm instead", model);
    await untilExtracted(desk);
    expect([desk.server.requests.length, await desk.json(["list"])]).toMatchObject([3, [{ name: "use pnpm" }]]);

    const cued = noteOf("deploy-rule", BODY).replace("\n---\n", `\n${CUES}---\n`);
    desk.server.queue(writeOf(desk, "deploy-rule.md", cued), { text: "Noted." });
    await claudeCode.start(desk, "set up the deploys to staging", model);
    const ledger = async () => JSON.stringify((await desk.json(["ledger"])) ?? null);
    await until(
      async () => /written in this turn/.test(await ledger()),
      () => "the reason why nothing was extracted",
    );
    expect(desk.server.requests).toHaveLength(5);
  });
});
