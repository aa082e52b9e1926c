// A small agent with memory, built on the OpenAI SDK. Each line of standard input is a prompt:
//   OPENAI_API_KEY=… node examples/openai-agent.mjs
import process from "node:process";
import { createInterface } from "node:readline";
import { MEMORY_TYPES, openMemdir, openRecallSession } from "memdir";
import OpenAI from "openai";

const memdir = await openMemdir({ cwd: process.cwd(), by: "openai-agent" });
const session = openRecallSession();
const string = { type: "string" };
const when = { type: "array", items: string, description: "situations in which it should come to mind" };
const properties = { type: { enum: MEMORY_TYPES }, name: string, description: string, body: string, when };
const client = new OpenAI();
const save = {
  name: "save_memory",
  description: "Saves what later sessions should know: corrections, decisions, who the user is, where to look.",
  parameters: { type: "object", properties, required: Object.keys(properties) },
  parse: JSON.parse,
  // An error would end the runner; return it as text so that the model can read it.
  function: (memory) => memdir.save(memory).then(({ file }) => `saved as ${file}`, String),
};

let messages = [];
for await (const prompt of createInterface({ input: process.stdin })) {
  if (prompt === "") continue;
  const { memories, text } = await memdir.recall(prompt, { session });
  session.surface(memories); // so that none is shown twice
  messages.push({ role: "user", content: `${text}\n\n${prompt}`.trim() });
  const model = process.env.MODEL ?? "gpt-5";
  const tools = [{ type: "function", function: save }];
  const runner = client.chat.completions.runTools({ model, messages, tools, stream: true });
  runner.on("content", (delta) => process.stdout.write(delta));
  await runner.done();
  messages = [...runner.messages];
  process.stdout.write("\n");
}
