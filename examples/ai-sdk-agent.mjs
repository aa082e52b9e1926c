// A small agent with memory, built on the AI SDK. Each line of standard input is a prompt:
//   OPENAI_API_KEY=… node examples/ai-sdk-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import { openai } from "@ai-sdk/openai";
import { stepCountIs, streamText, wrapLanguageModel } from "ai";
import { openMemdir } from "memdir";
import { openAiMemory } from "memdir/ai";

const { tools, middleware, instructions } = await openAiMemory(await openMemdir({ by: "ai-sdk-agent" }));
const model = wrapLanguageModel({ model: openai.chat(process.env.MODEL ?? "gpt-5"), middleware });

const messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  messages.push({ role: "user", content: prompt });
  const answer = streamText({ model, system: instructions, messages, tools, stopWhen: stepCountIs(8) });
  for await (const delta of answer.textStream) process.stdout.write(delta);
  messages.push(...(await answer.response).messages);
  process.stdout.write("\n");
}
