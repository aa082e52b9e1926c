// A small agent with memory, built on the OpenAI SDK. Each line of standard input is a prompt:
//   OPENAI_API_KEY=… node examples/openai-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import { openMemdir, openRecallSession } from "memdir";
import OpenAI from "openai";

const memdir = await openMemdir({ by: "openai-agent" });
const session = openRecallSession();
const client = new OpenAI();
const tools = (await memdir.tools()).map(({ name, description, inputSchema: parameters, run }) => ({
  type: "function",
  // An error would end the runner; return it as text so that the model can read it.
  function: { name, description, parameters, parse: JSON.parse, function: (input) => run(input).catch(String) },
}));

let messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  const { memories, text } = await memdir.recall(prompt, { session });
  session.surface(memories); // so that none is shown twice
  messages.push({ role: "user", content: `${text}\n\n${prompt}`.trim() });
  const request = { model: process.env.MODEL ?? "gpt-5", messages, tools };
  const runner = client.chat.completions.runTools({ ...request, stream: true });
  runner.on("content", (delta) => process.stdout.write(delta));
  await runner.done();
  messages = [...runner.messages];
  process.stdout.write("\n");
}
