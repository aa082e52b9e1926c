// A small agent with memory, built on the AI SDK. Each line of standard input is a prompt:
//   OPENAI_API_KEY=… node examples/ai-sdk-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import { openai } from "@ai-sdk/openai";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { MEMORY_TYPES, openMemdir, openRecallSession } from "memdir";

const memdir = await openMemdir({ cwd: process.cwd(), by: "ai-sdk-agent" });
const session = openRecallSession();
const string = { type: "string" };
const when = { type: "array", items: string, description: "situations in which it should come to mind" };
const properties = { type: { enum: MEMORY_TYPES }, name: string, description: string, body: string, when };
const save_memory = tool({
  description: "Saves what later sessions should know: corrections, decisions, who the user is, where to look.",
  inputSchema: jsonSchema({ type: "object", properties, required: Object.keys(properties) }),
  execute: async (memory) => `saved as ${(await memdir.save(memory)).file}`,
});

const messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  const { memories, text } = await memdir.recall(prompt, { session });
  session.surface(memories); // so that none is shown twice
  messages.push({ role: "user", content: `${text}\n\n${prompt}`.trim() });
  const model = openai.chat(process.env.MODEL ?? "gpt-5");
  const answer = streamText({ model, messages, tools: { save_memory }, stopWhen: stepCountIs(8) });
  for await (const delta of answer.textStream) process.stdout.write(delta);
  messages.push(...(await answer.response).messages);
  process.stdout.write("\n");
}
