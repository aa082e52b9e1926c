/** What a line means: a command, something to keep, or words for the model. */

import { MemdirError } from "../../errors.ts";
import { type Said, understandSaid } from "../../learn/said.ts";
import { printSaved } from "../save.ts";
import { previewText } from "./agent-preview.ts";
import { runSlash } from "./slash-commands.ts";
import type { Desk } from "./slash-desk.ts";
import { forgetSaid, saveSaid, saveText } from "./slash-memory.ts";

/** Below, a rule is not sure enough to keep something that nobody asked to keep. */
const SURE = 0.75;

export async function answerLine(
  line: string,
  desk: Desk,
  talk: (words: string) => Promise<void>,
): Promise<"stay" | "leave"> {
  const text = line.trim();
  if (text === "") return "stay";
  if (text.startsWith("/")) return runSlash(text, desk);
  // A heading at the start of pasted text is no wish to keep it.
  if (text.startsWith("#") && !text.includes("\n")) await saveSaid(text.replace(/^#+\s*/, ""), desk);
  else if (desk.offline) await answerOffline(text, desk);
  else await talk(text);
  return "stay";
}

/** Without a model: what was said is understood by rules, and what a model would be shown is shown. */
async function answerOffline(text: string, desk: Desk): Promise<void> {
  const [, verb = "", rest = ""] = /^(remember|forget)\b:?\s*([\s\S]*)$/i.exec(text) ?? [];
  if (verb.toLowerCase() === "forget") return forgetSaid(rest, desk);
  const said = await understandSaid(text, desk.now());
  if (verb !== "") return saveRequest(rest, said, desk);
  // Before anything new is kept: it is what is known now that would be shown.
  desk.terminal.print(previewText(await desk.agent.preview(text), desk.memdir, desk.terminal.color));
  for (const one of said) await keep(one, desk);
}

/** Dates are made absolute by the rules; what they do not understand is kept word for word. */
async function saveRequest(rest: string, said: readonly Said[], desk: Desk): Promise<void> {
  const [one] = said;
  if (said.length !== 1 || !one || one.act === "forget" || !/\d{4}-\d\d-\d\d/.test(one.body))
    return saveSaid(rest, desk);
  await saveText(one.type, one.body, desk);
}

async function keep({ act, explicit, confidence, ...memory }: Said, desk: Desk): Promise<void> {
  if (act === "forget" || (!explicit && confidence < SURE)) return;
  const { memdir, terminal } = desk;
  const source = { by: "user", session: null, message: null };
  try {
    printSaved({ json: false, terminal }, await memdir.save({ ...memory, source }));
    terminal.print(terminal.color.dim(`    understood as a ${act}, saved as ${memory.type}; /undo takes it back`));
  } catch (error) {
    if (!(error instanceof MemdirError)) throw error;
    terminal.warn(`memdir: ${error.message}`);
  }
}
