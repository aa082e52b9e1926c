/** Any order of prompts, faults, stops, compactions, rewinds, resumes and clears leaves a conversation that can be sent and a file that says the same. */

import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Agent, RewindWhat } from "../../src/agent/agent.ts";
import type { MemdirError } from "../../src/errors.ts";
import { type AgentDesk, calls, openDesk } from "../agent/desk.ts";
import { plainMessages, rolesOf } from "../agent/hostile.ts";
import type { Reply } from "../model-server/reply.ts";

type Step =
  | { do: "say"; how: "plain" | "tools" | "many" | "unknown" | "thinking" | "blank" }
  | { do: "fail"; how: "drop" | "malformed" | "busy" | "refused" | "wrong" | "cut" | "late" }
  | { do: "stop"; when: "before" | "text" | "tool" }
  | { do: "compact"; how: "good" | "bad" | "notes" }
  | { do: "rewind"; to: number; what: RewindWhat }
  | { do: "resume" }
  | { do: "clear" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      how: fc.constantFrom(...(["plain", "tools", "many", "unknown", "thinking", "blank"] as const)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fail" as const),
      how: fc.constantFrom(...(["drop", "malformed", "busy", "refused", "wrong", "cut", "late"] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("stop" as const),
      when: fc.constantFrom(...(["before", "text", "tool"] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("compact" as const),
      how: fc.constantFrom(...(["good", "bad", "notes"] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rewind" as const),
      to: fc.nat(20),
      what: fc.constantFrom(...(["code", "conversation", "both"] as const)),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "resume" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "clear" as const }) },
);

/** What the test believes: which prompts the conversation holds, and all that was ever said. */
interface Belief {
  prompts: string[];
  said: string[];
  number: number;
  /** Whether messages were kept beside notes. */
  notes: boolean;
}

it("whatever happens in whatever order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const desk = await openDesk();
      const file = desk.put("a.txt", "line 0\n");
      let script: Reply[] = [];
      desk.server.queue(...Array.from({ length: 400 }, () => () => script.shift() ?? { text: "an answer" }));
      let agent = await desk.open();
      const belief: Belief = { prompts: [], said: [], number: 0, notes: false };
      for (const one of [...steps, { do: "say", how: "plain" } as const]) {
        script = scriptOf(one, file, belief.number);
        agent = await take(desk, agent, one, belief);
        expect(agent.prompts().map(({ text }) => text)).toEqual(belief.prompts);
      }
      await check(desk, agent, belief);
      await desk.server.close();
    }),
    { numRuns: 150 },
  );
});

function scriptOf(one: Step, file: string, number: number): Reply[] {
  const read = { name: "Read", input: { file_path: file } };
  const edit = { name: "Edit", input: { file_path: file, old_string: "line", new_string: `line ${number}` } };
  const six = (reply: Reply): Reply[] => Array.from({ length: 6 }, () => reply);
  if (one.do === "say") {
    if (one.how === "tools") return [calls(read), { text: "Now I edit.", ...calls(edit) }];
    if (one.how === "many") return [calls(read, edit, { name: "Bash", input: { command: "echo hi" } }, read)];
    if (one.how === "unknown") return [calls({ name: "Nothing" }, { name: "Edit", input: { wrong: 1 } })];
    if (one.how === "thinking")
      return [
        { thinking: "hm", ...calls(read) },
        { thinking: "so", text: "thought" },
      ];
    return one.how === "blank" ? [{}] : [];
  }
  if (one.do === "fail") {
    if (one.how === "drop" || one.how === "malformed") return six({ text: ["Half of it"], fault: one.how });
    if (one.how === "busy") return six({ status: 529 });
    if (one.how === "refused") return [{ text: "", stop: "refusal" }];
    if (one.how === "wrong") return [{ status: 400, message: "not accepted like this" }];
    if (one.how === "cut") return [{ text: "cut", tools: [{ ...read, rawInput: '{"file' }], stop: "max_tokens" }];
    return [calls(read), ...six({ text: ["Half of it"], fault: "drop" })];
  }
  if (one.do === "stop") {
    return one.when === "tool"
      ? [calls({ name: "Bash", input: { command: "sleep 20" } }, read)]
      : [{ text: ["Half"], fault: "hang" }];
  }
  if (one.do === "compact") return [one.how === "bad" ? { text: "" } : { text: "<summary>All of it.</summary>" }];
  return [];
}

async function take(desk: AgentDesk, agent: Agent, one: Step, belief: Belief): Promise<Agent> {
  if (one.do === "say" || one.do === "fail" || one.do === "stop") {
    const words = `prompt number ${++belief.number} of this test`;
    belief.prompts.push(words);
    belief.said.push(words);
    const stop = new AbortController();
    if (one.do === "stop" && one.when === "before") stop.abort();
    const { ended } = await agent.say(words, {
      signal: stop.signal,
      onEvent: ({ type }) => {
        if (one.do === "stop" && type === (one.when === "tool" ? "tool-start" : "text"))
          setTimeout(() => stop.abort(), 2);
      },
    });
    if (one.do === "say") expect(ended).toBe("done");
    if (one.do === "stop") expect(ended).toBe("aborted");
  }
  if (one.do === "compact") {
    const notes = path.join(path.dirname(agent.transcriptPath), agent.sessionId, "session-memory");
    if (one.how === "notes") {
      fs.mkdirSync(notes, { recursive: true });
      fs.writeFileSync(path.join(notes, "summary.md"), "Notes of it.");
    }
    const { ok } = await agent.compact();
    fs.rmSync(notes, { recursive: true, force: true });
    belief.notes ||= one.how === "notes";
    if (ok) belief.prompts = agent.prompts().map(({ text }) => text);
  }
  if (one.do === "rewind" && belief.prompts.length > 0) {
    const at = one.to % belief.prompts.length;
    // A prompt that stayed beside notes has no checkpoint of its own; a refusal changes nothing.
    const refused = await agent.rewind(agent.prompts()[at]?.id ?? "", one.what).then(
      () => false,
      (error: MemdirError) => error.code === "not-found" && belief.notes,
    );
    if (!refused && one.what !== "code") belief.prompts = belief.prompts.slice(0, at);
  }
  if (one.do === "clear") {
    await agent.clear();
    belief.prompts = [];
  }
  if (one.do !== "resume" || !fs.existsSync(agent.transcriptPath)) return agent;
  const session = await desk.read(agent);
  expect(session.problems).toEqual([]);
  const resumed = await desk.open({ from: session });
  // What stays beside notes is a prompt again for whoever reads the file.
  if (belief.prompts.length < resumed.prompts().length) belief.prompts = resumed.prompts().map(({ text }) => text);
  return resumed;
}

/** The last step was a prompt that was answered: its request is what the model sees. */
async function check(desk: AgentDesk, agent: Agent, belief: Belief): Promise<void> {
  const shown = plainMessages(desk.last());
  for (const words of belief.prompts) expect(JSON.stringify(shown)).toContain(words);
  const roles = rolesOf(desk.last());
  expect(roles.filter((role, i) => role === "assistant" && roles[i + 1] === "assistant")).toEqual([]);
  const folder = path.dirname(agent.transcriptPath);
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const kept = files.map((name) => fs.readFileSync(path.join(folder, name), "utf8")).join("\n");
  for (const words of belief.said) expect(kept).toContain(words);
  const resumed = await desk.open({ from: await desk.read(agent) });
  await resumed.say("the very last prompt");
  expect(plainMessages(desk.last()).slice(0, shown.length)).toEqual(shown);
}
