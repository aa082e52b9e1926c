/** An agent for tests: a world of its own, the real Anthropic SDK, and a model server on loopback that says what it is told. */

import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Agent, makeAgent } from "../../src/agent/agent.ts";
import type { AgentEvent, AgentModel, AgentSetup } from "../../src/agent/state.ts";
import { openAnthropic } from "../../src/model/anthropic.ts";
import { withRetries } from "../../src/model/choose.ts";
import { type ResumedSession, readSession } from "../../src/session/session-reader.ts";
import { openPermissions, type PermissionOptions } from "../../src/tools/permission.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { PATIENCE_MS } from "../until.ts";
import { makeWorld, type World } from "../world.ts";

export interface AgentDesk {
  world: World;
  server: ModelServer;
  events: AgentEvent[];
  /** Listens to what the agent tells. */
  onEvent: (event: AgentEvent) => void;
  open(options?: OpenOptions): Promise<Agent>;
  /** The session as a later process would read it. */
  read(agent: Agent): Promise<ResumedSession>;
  /** A file of the project. */
  put(file: string, text: string): string;
  text(file: string): string;
  /** The last request's messages as the server saw them. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  last(): any;
  /** All texts of the last request's messages. */
  shown(): string;
}

export interface OpenOptions extends Partial<AgentSetup> {
  from?: ResumedSession;
  allow?: readonly string[];
  ask?: PermissionOptions["ask"];
  model?: never;
  windowTokens?: number;
  maxSilenceMs?: number;
}

export async function openDesk(): Promise<AgentDesk> {
  const world = makeWorld();
  // Five processes for every conversation; what they tell has tests of its own.
  fs.writeFileSync(
    path.join(world.home, ".claude", "settings.json"),
    JSON.stringify({ includeGitInstructions: false }),
  );
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const events: AgentEvent[] = [];
  const desk: AgentDesk = {
    world,
    server,
    events,
    onEvent: (event) => void events.push(event),
    async open({
      from,
      allow = ["all"],
      ask = null,
      windowTokens = 200_000,
      maxSilenceMs = PATIENCE_MS,
      ...more
    } = {}) {
      const bare = await openAnthropic({
        model: "claude-test",
        apiKey: "sk-test-key",
        baseUrl: server.url,
        maxSilenceMs,
      });
      const model: AgentModel = {
        ask: withRetries(bare, { now: () => new Date(), sleep: async () => {}, random: () => 0 }),
        name: "claude-test",
        provider: "anthropic",
        windowTokens,
        maxTokens: 1_000,
        cutoff: null,
      };
      let ids = 0;
      const start = Math.floor(Math.random() * 0xffffffff)
        .toString(16)
        .padStart(8, "0");
      return makeAgent(
        {
          memdir: await world.open(),
          model,
          permissions: openPermissions({ ask, allowed: allow }),
          env: world.env,
          now: () => world.now,
          newId: () => `${start}-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`,
          log: (message) => world.logged.push(message),
          // Recall is waited for, however slow the machine is.
          sleep: (_, signal) => sleep(PATIENCE_MS, undefined, { signal, ref: false }).catch(() => {}),
          platform: { name: "linux", version: "Linux 6.1" },
          version: "0.0.0-test",
          addedDirs: [],
          openScope: (scope) => world.open({ scope }),
          openLearner: null,
          recallWithModel: false,
          maxSteps: 20,
          ...more,
        },
        from ?? null,
      );
    },
    read: (agent) => readSession(agent.transcriptPath),
    put(file, text) {
      const full = path.join(world.project, file);
      fs.mkdirSync(path.dirname(full), { recursive: true });
      fs.writeFileSync(full, text);
      return full;
    },
    text: (file) => fs.readFileSync(path.join(world.project, file), "utf8"),
    last: () => server.requests.at(-1)?.body,
    shown: () =>
      ((server.requests.at(-1)?.body.messages ?? []) as { content: { text?: string; content?: string }[] }[])
        .flatMap(({ content }) => content.map((block) => block.text ?? block.content ?? ""))
        .join("\n"),
  };
  return desk;
}

export const calls = (...tools: { name: string; input?: unknown }[]) => ({ tools });
