/** A real client as memdir's model: it answers, and does nothing else; what it was asked stays nowhere, and nothing of it runs on. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { findClient } from "../../scripts/install-clients.mjs";
import type { AskAnswer } from "../../src/model/ask.ts";
import { chooseModel } from "../../src/model/choose.ts";
import { MODEL_CLIENTS } from "../../src/model/clients.ts";
import type { Reply } from "../model-server/reply.ts";
import { countIn, type Desk, describeClient, NO_NETWORK, openDesk } from "./client.ts";
import type { Host } from "./host.ts";

export interface AsModel {
  host: Host;
  /** As MEMDIR_MODEL names it, and as the ledger does. */
  model: string;
  known: string;
  /** What makes it use the loopback server, and its login. */
  env: (desk: Desk) => Record<string, string>;
  /** The same without a login; else the server refuses it. */
  loggedOut?: (desk: Desk) => Record<string, string>;
  /** How its model answers in a form. */
  formed?: (value: object) => Reply;
  /** Tools that it cannot be talked out of; none of them does anything here. */
  tools: readonly string[];
}

const WORD = "cormorant";
const QUESTION = `Which bird dives? PROMPT-${WORD}`;
const SCHEMA = { type: "object", properties: { bird: { type: "string" }, n: { type: "number" } }, required: ["bird"] };
const BODY = "Deploy with kubectl, context heron, never on a Friday.";
/** More than any of them tries. */
const MANY = 30;

export function describeModel(as: AsModel): void {
  const { host } = as;
  describeClient(host.name, () => {
    it("as a model it answers in the form it is asked for, without the user's hooks, servers and memories", async () => {
      const { desk, ask, spied } = await openModelDesk(as);
      const before = settingsOf(desk);
      desk.server.queue(formOf(as, { bird: "the pelican" }));
      const answer = await ask();
      expect(answer).toMatchObject({
        ok: true,
        content: [{ type: "text", text: '{"bird":"the pelican"}' }],
        stop: "end",
      });
      expect(answer.ok && answer.usage.input + answer.usage.output).toBeGreaterThan(0);

      expect(desk.server.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
      const [request] =
        desk.asked().length > 0 ? desk.asked() : desk.server.requests.filter(({ method }) => method === "POST");
      expect([countIn(request, QUESTION), countIn(request, "You know birds.")]).toEqual([1, 1]);
      expect(countIn(request, BODY)).toBe(0);
      expect(request?.body.tools?.length ? host.shown(request) : []).toEqual(as.tools);

      expect(spied()).toEqual([]);
      expect(settingsOf(desk)).toEqual(before);
      expect(holding(desk, WORD)).toEqual([]);
      expect(fs.readdirSync(desk.at("tmp")).filter((name) => name.startsWith("memdir"))).toEqual([]);
      expect(running(desk)).toEqual([]);
    });

    it("as a model that is logged out it says how to log in", async () => {
      const { desk, ask } = await openModelDesk(as);
      desk.server.queue(...Array<Reply>(MANY).fill({ status: 401, message: "no such key" }));
      const { error } = (await ask(as.loggedOut?.(desk))) as Extract<AskAnswer, { ok: false }>;
      expect(error).toMatchObject({ kind: "auth", retriable: false });
      expect(error.message).toContain(MODEL_CLIENTS[host.name as keyof typeof MODEL_CLIENTS].login);
      expect([holding(desk, WORD), running(desk)]).toEqual([[], []]);
    });

    it("as a model at its limit it says so, and does not wait for ever", async () => {
      const { desk, ask } = await openModelDesk(as);
      const type = "rate_limit_error";
      desk.server.queue(...Array<Reply>(MANY).fill({ status: 429, type, message: "usage limit reached" }));
      const { error } = (await ask()) as Extract<AskAnswer, { ok: false }>;
      expect(error).toMatchObject({ kind: "rate", retriable: false });
      expect(error.message).toMatch(/reached the limit of your account/);
      expect([holding(desk, WORD), running(desk)]).toEqual([[], []]);
    });

    it("as a model it extracts from a conversation", async () => {
      const { desk, env } = await openModelDesk(as);
      desk.server.queue(formOf(as, { memories: [KEPT] }));
      const file = desk.put("talk.jsonl", talkOf(desk));
      const ran = await desk.run(["extract", "--transcript", file, "--json"], {
        env: { ...env, MEMDIR_MODEL: as.model },
      });
      expect(ran, ran.err).toMatchObject({ code: 0 });
      expect(await desk.json(["list"])).toEqual(expect.arrayContaining([expect.objectContaining({ name: KEPT.name })]));
      const { entries } = await desk.json(["ledger"]);
      expect(entries).toMatchObject([{ kind: "extraction", model: as.known, produced: "1 saved", skipped: null }]);
      expect(entries[0].tokens).toBeGreaterThan(0);
    });

    it("as a model it writes cues, and plans a dream", async () => {
      const { desk, env } = await openModelDesk(as);
      const more = { env: { ...env, MEMDIR_MODEL: as.model } };
      desk.server.queue(formOf(as, { 1: ["rolling out to the test cluster", "which context for kubectl"] }));
      expect(await desk.run(["enrich", "--json"], more)).toMatchObject({ code: 0 });
      const [{ file }] = await desk.json(["list"]);
      expect(fs.readFileSync(path.join(desk.dir(), file), "utf8")).toContain("rolling out to the test cluster");

      const reason = "the two say the same";
      const op = { kind: "retire", file, files: null, into: null, successor: null, text: null, from: null, reason };
      desk.server.queue(formOf(as, { ops: [op] }), formOf(as, { ops: [] }));
      const planned = await desk.run(["dream", "--plan", "--json"], more);
      expect(planned, planned.err).toMatchObject({ code: 0 });
      const { entries } = await desk.json(["ledger"]);
      const calls = entries.map(({ kind, model }: { kind: string; model: string }) => `${kind} ${model}`);
      expect(calls).toEqual([`enrich ${as.known}`, `dream ${as.known}`]);
      expect(running(desk)).toEqual([]);
    });

    it("as a model it is what memdir doctor --model tries", async () => {
      const { desk, env } = await openModelDesk(as);
      desk.put("home/.claude/memdir.json", { learn: { model: as.model } });
      desk.server.queue({ text: "ready", usage: { input: 40, output: 2 } });
      const ran = await desk.run(["doctor", "--model", "--json"], { env });
      const { checks } = JSON.parse(ran.out) as {
        checks: { name: string; ok: boolean; detail: string; fix: string }[];
      };
      const check = checks.find(({ name }) => name === "learning");
      expect(check).toMatchObject({ ok: true, detail: expect.stringContaining(`${as.known} answers, for`) });
      const { entries } = await desk.json(["ledger"], { env });
      expect(entries).toMatchObject([{ kind: "check", model: as.known }]);
    });
  });
}

export const KEPT = {
  file: null,
  type: "feedback",
  name: "use pnpm",
  description: "npm is not used here",
  when: ["installing a package", "adding a dependency"],
  source: ["m1"],
  body: "Never use npm here, use pnpm.",
};

/** How its model answers in a form: most are only told, and like fences. */
export function formOf({ formed }: Pick<AsModel, "formed">, value: object): Reply {
  return formed?.(value) ?? { text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` };
}

function talkOf(desk: Desk): string {
  const sessionId = "9b2f7c1e-0000-4000-8000-000000000001";
  const common = { sessionId, cwd: desk.cwd, version: "2.1.325", isSidechain: false };
  const said = (type: "user" | "assistant", uuid: string, parentUuid: string | null, text: string, second: number) => {
    const timestamp = `2026-03-10T12:00:0${second}.000Z`;
    const content = type === "user" ? text : [{ type: "text", text }];
    return JSON.stringify({ ...common, type, uuid, parentUuid, timestamp, message: { role: type, content } });
  };
  const lines = [
    said("user", "u1", null, "no, never use npm here, use pnpm instead", 1),
    said("assistant", "a1", "u1", "Understood.", 2),
  ];
  return `${lines.join("\n")}\n`;
}

/** A home with the client's login, with hooks and servers that tell when they are started, and with a memory. */
async function openModelDesk(as: AsModel) {
  const { host } = as;
  const desk = await openDesk(host.name, { isModel: true });
  const spy = desk.put(
    "spy.mjs",
    `import fs from "node:fs"; fs.appendFileSync(process.argv[2], process.argv[3] + "\\n");`,
  );
  const spied = desk.at("spied");
  const node = JSON.stringify(process.execPath);
  const command = `${node} ${JSON.stringify(spy)} ${JSON.stringify(spied)} hook`;
  host.prepare(desk, {
    server: [process.execPath, spy, spied, "server"],
    hook: { command, moments: ["start", "prompt", "before-tool", "after-tool", "stop"] },
  });
  await desk.save("deploy-staging", ["--type", "project"], BODY);
  await desk.json(["init", "--yes", "--agent", host.agent]);
  const env = { ...NO_NETWORK, PATH: putProgram(desk, host.name), ...as.env(desk) };
  const ask = async (more: Record<string, string> = {}): Promise<AskAnswer> => {
    const choice = chooseModel({ ...desk.env, ...env, ...more, MEMDIR_MODEL: as.model });
    if (!choice || "problem" in choice) throw new Error(`no model: ${choice?.problem}`);
    expect([`${choice.provider}/${choice.name}`, choice.takesTools]).toEqual([as.known, false]);
    return (await choice.open())({
      system: [{ text: "You know birds." }],
      messages: [{ role: "user", content: [{ type: "text", text: QUESTION }] }],
      schema: SCHEMA,
      maxTokens: 1_000,
    });
  };
  return {
    desk,
    env,
    ask,
    spied: () => (fs.existsSync(spied) ? fs.readFileSync(spied, "utf8").trim().split("\n") : []),
  };
}

/** A PATH with the client under its own name. */
export function putProgram(desk: Desk, name: string): string {
  const client = findClient(name);
  if (!client) throw new Error(`${name} is not installed`);
  const words = [client.program, ...client.args].map((word) => `'${word}'`).join(" ");
  const file = desk.put(
    `bin/${MODEL_CLIENTS[name as keyof typeof MODEL_CLIENTS].program}`,
    `#!/bin/sh\nexec ${words} "$@"\n`,
  );
  fs.chmodSync(file, 0o755);
  return `${path.dirname(file)}${path.delimiter}${process.env.PATH}`;
}

/** What a person has written or chosen; not what clients note for themselves. */
function settingsOf(desk: Desk): Record<string, string> {
  const files = [".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"];
  const more = [".gemini/settings.json", ".config/opencode/opencode.json", ".claude/memdir.json"];
  const there = [...files, ...more].filter((file) => fs.existsSync(path.join(desk.home, file)));
  return Object.fromEntries(there.map((file) => [file, fs.readFileSync(path.join(desk.home, file), "utf8")]));
}

/** Every file below that holds the text, databases and logs among them. */
function holding(desk: Desk, text: string): string[] {
  const files = fs.readdirSync(desk.top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => path.join(parentPath, name));
  return paths.filter((file) => fs.readFileSync(file).includes(text)).map((file) => path.relative(desk.top, file));
}

/** Processes with this desk's home. Linux only. */
function running(desk: Desk): string[] {
  if (process.platform !== "linux") return [];
  return fs.readdirSync("/proc").flatMap((pid) => {
    try {
      const isOurs =
        /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${desk.home}`);
      return isOurs ? [fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
    } catch {
      return [];
    }
  });
}
