/** What must hold after whatever went wrong: the conversation can be sent, nothing said is lost, and a resume gives the same. */

import fs from "node:fs";
import { expect } from "vitest";
import type { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/state.ts";
import type { AgentDesk } from "./desk.ts";

interface WireMessage {
  role: string;
  content: { type: string; text?: string; content?: string; [field: string]: unknown }[];
}

/** Messages as the server saw them, without cache marks and without the opening, which is read afresh from a disk that changes. */
export function plainMessages(body: { messages: WireMessage[] }): WireMessage[] {
  return body.messages.map(({ role, content }, i) => ({
    role,
    content: content
      .filter(({ text }) => i > 0 || !/^<system-reminder>/.test(text ?? ""))
      .map(({ cache_control: _, ...block }) => block as WireMessage["content"][number]),
  }));
}

export function rolesOf(body: { messages: WireMessage[] }): string[] {
  return body.messages.map(({ role }) => role);
}

/** All `words` are in the next request and in the file; roles alternate; a resumed session sends the same messages. */
export async function expectWhole(desk: AgentDesk, agent: Agent, words: readonly string[]): Promise<Agent> {
  desk.server.queue({ text: "later answer" });
  const later = await agent.say("words of a later prompt");
  expect(later, JSON.stringify(later.error)).toMatchObject({ ended: "done", text: "later answer" });
  const roles = rolesOf(desk.last());
  expect(roles).toEqual(roles.map((_, i) => (i % 2 === 0 ? "user" : "assistant")));
  const file = fs.readFileSync(agent.transcriptPath, "utf8");
  for (const said of words) {
    expect(JSON.stringify(desk.last().messages)).toContain(inJson(said));
    expect(file).toContain(inJson(said));
  }
  const before = plainMessages(desk.last());
  const session = await desk.read(agent);
  expect(session.problems).toEqual([]);
  const resumed = await desk.open({ from: session });
  desk.server.queue({ text: "answer after the resume" });
  expect(await resumed.say("words after a resume")).toMatchObject({ ended: "done" });
  expect(plainMessages(desk.last()).slice(0, before.length)).toEqual(before);
  return resumed;
}

export function typesOf(events: readonly AgentEvent[], type: AgentEvent["type"]): AgentEvent[] {
  return events.filter((event) => event.type === type);
}

/** What the tools of a turn answered, in their order. */
export function resultsOf(events: readonly AgentEvent[]): { content: string; isError: boolean }[] {
  return events.flatMap((event) =>
    event.type === "tool-end" ? [{ content: event.result.content, isError: event.result.isError === true }] : [],
  );
}

/** Ends when the check holds; a test that waits in vain fails by its own time limit. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
