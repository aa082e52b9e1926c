/** OpenCode's plugin as OpenCode would run it, with a hook that a test writes. */

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { buildPlugin } from "../../src/wiring/opencode-plugin.ts";
import { makeTemporary } from "../temporary.ts";

interface TextPart {
  id?: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  messageID?: string;
  sessionID?: string;
}

async function load(hook: string) {
  const folder = makeTemporary("plugin", "memory");
  const program = path.join(folder, "hook with space.cjs");
  fs.writeFileSync(program, hook);
  const file = path.join(folder, "memdir.mjs");
  fs.writeFileSync(file, buildPlugin(process.execPath, program));
  const module = await import(pathToFileURL(file).href);
  // OpenCode calls whatever is exported.
  expect(Object.keys(module)).toEqual(["Memdir"]);
  const hooks = await module.Memdir({ directory: folder });
  return {
    folder,
    hooks,
    async say(
      text: string,
      parts: TextPart[] = [{ id: "prt_a", messageID: "msg_1", type: "text", text }],
      session = "s1",
    ) {
      await hooks["chat.message"]({ sessionID: session }, { parts });
      return parts;
    },
  };
}

/** Says back what it was asked. */
const ECHO = `
exports.openHooks = () => async (event) => {
  const additionalContext = [event.hook_event_name, event.source, event.prompt, event.session_id].join("|");
  return { out: JSON.stringify({ hookSpecificOutput: { additionalContext } }), after: () => {} };
};`;

test("what the hook says comes behind the prompt, unseen; the greeting once, and again after a compaction", async () => {
  const { say, hooks } = await load(ECHO);
  expect(await say("hello")).toEqual([
    { id: "prt_a", messageID: "msg_1", type: "text", text: "hello" },
    {
      id: "prt_am",
      messageID: "msg_1",
      sessionID: "s1",
      type: "text",
      text: "SessionStart|startup||s1\n\nUserPromptSubmit||hello|s1",
      synthetic: true,
    },
  ]);
  expect((await say("more"))[1]?.text).toBe("UserPromptSubmit||more|s1");
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s1" } } });
  await hooks.event({ event: { type: "other" } });
  expect((await say("now"))[1]?.text).toBe("SessionStart|compact||s1\n\nUserPromptSubmit||now|s1");
});

test("only what the user wrote is the prompt", async () => {
  const { say } = await load(ECHO);
  const parts: TextPart[] = [
    { id: "prt_a", messageID: "m", type: "text", text: "one" },
    { id: "prt_b", messageID: "m", type: "file" },
    { id: "prt_c", messageID: "m", type: "text", text: "made", synthetic: true },
    { id: "prt_d", messageID: "m", type: "text", text: "two" },
  ];
  expect((await say("", parts)).at(-1)).toMatchObject({
    id: "prt_dm",
    text: expect.stringMatching(/\|\|one\ntwo\|s1$/),
  });
});

test("a hook that is silent, fails, gives nonsense or is gone costs nothing", async () => {
  for (const hook of [
    "",
    "throw new Error('broken')",
    "exports.openHooks = () => { throw new Error('broken'); };",
    "exports.openHooks = () => async () => { throw new Error('broken'); };",
    "exports.openHooks = () => async () => ({ out: 'no json', after() {} });",
    "exports.openHooks = () => async () => ({ out: '{}', after() {} });",
    "exports.openHooks = () => async () => ({ out: '', after() {} });",
  ]) {
    const { say } = await load(hook);
    expect(await say("hello")).toHaveLength(1);
  }
  const gone = await load("");
  for (const name of fs.readdirSync(gone.folder)) fs.rmSync(path.join(gone.folder, name));
  expect(await gone.say("hello")).toHaveLength(1);
});

test("messages without parts or ids are left alone", async () => {
  const { say, hooks } = await load(ECHO);
  expect(await say("", [])).toEqual([]);
  expect(await say("", [{ type: "text", text: "x" }])).toHaveLength(1);
  await hooks["chat.message"]({}, {});
});
