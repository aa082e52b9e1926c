/** What a line means in the console: a command, something to keep, or words for the model; and what the console says first. */

import type { Preview } from "../../agent/agent.ts";
import { MemdirError } from "../../errors.ts";
import { type Said, understandSaid } from "../../learn/said.ts";
import type { Memdir } from "../../memdir.ts";
import { openLearning } from "../../open-learn.ts";
import type { ResumedSession } from "../../session/session-reader.ts";
import { isOfType, MEMORY_TYPES, type Row } from "../../store/store.ts";
import { sanitise } from "../../text/sanitise.ts";
import { count, dim } from "../../verb.ts";
import { saySaved } from "../../verbs/save.ts";
import { describeSession } from "../agent.ts";
import { type Paint, print, type Terminal } from "../terminal.ts";
import { runSlash } from "./slash-commands.ts";
import type { Console } from "./slash-memory.ts";
import { forgetSaid, saveSaid } from "./slash-memory.ts";
import { printFolded } from "./turn-view.ts";

/** A line that fails is reported, and the console goes on. */
export async function answerLine(line: string, console: Console, talk: (words: string) => Promise<void>) {
  return reportFailure(console, async () => {
    const text = line.trim();
    if (text === "") return "stay";
    if (text.startsWith("/")) return runSlash(text, console);
    if (/^(?:exit|quit|help)$/i.test(text)) return runSlash(`/${text}`, console);
    // A heading at the start of pasted text is no request to keep it.
    if (text.startsWith("#") && !text.includes("\n")) await saveSaid(text.replace(/^#+\s*/, ""), console);
    else if (console.offline) await answerOffline(text, console);
    else await talk(text);
    return "stay";
  });
}

async function reportFailure<T>({ terminal }: Console, work: () => Promise<T>): Promise<T | "failed"> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MemdirError)) throw error;
    terminal.warn(
      `memdir: ${error.message.replace(/`memdir (list|show|save|edit|forget|history|undo|search)\b/g, "`/$1")}`,
    );
    return "failed";
  }
}

/** Without a model: what was said is understood by rules and the classifier, and what a model would be shown is shown. */
async function answerOffline(text: string, console: Console): Promise<void> {
  const [, verb = "", rest = ""] = /^(remember|forget)\b:?\s*([\s\S]*)$/i.exec(text) ?? [];
  if (verb.toLowerCase() === "forget") return forgetSaid(rest, console);
  const { meaning } = console.memdir.config;
  const embed = meaning ? (await import("../../meaning/meaning.ts")).findEmbed() : null;
  const said = await understandSaid(text, console.now(), { embed });
  if (verb !== "") return saveRequest(rest, said, console);
  // Before anything new is kept: it is what is known now that would be shown.
  printFolded(console.terminal, previewText(await console.agent.preview(text), console.memdir, console.terminal.color));
  const kept = said.filter(({ act, isUnsure }) => act !== "forget" && !isUnsure);
  for (const one of kept) await keep(one, console);
  if (kept.length === 0 && !text.trimEnd().endsWith("?"))
    print(console.terminal, [dim("Nothing was saved. To save a sentence: remember that …")]);
}

/** Dates are made absolute by the rules; what they do not understand is kept word for word. */
async function saveRequest(rest: string, said: readonly Said[], console: Console): Promise<void> {
  const [one] = said;
  if (said.length !== 1 || !one || one.act === "forget" || !/\d{4}-\d\d-\d\d/.test(one.body))
    return saveSaid(rest, console);
  await saveSaid(one.body, console, one.type);
}

async function keep({ act, explicit: _, isUnsure: __, ...memory }: Said, console: Console): Promise<void> {
  const { memdir, terminal } = console;
  const source = { by: "user", session: null, message: null };
  await reportFailure(console, async () => {
    print(terminal, saySaved(await memdir.save({ ...memory, source }), { call: (words) => `/${words}` }));
    print(terminal, [
      dim(`    understood as a ${act === "remember" ? "request" : act}, saved as ${memory.type}; /undo removes it`),
    ]);
  });
}

export function previewText({ memories, leftOut, instructions }: Preview, memdir: Memdir, color: Paint): string {
  const short = (path: string) => sanitise(path.replace(`${memdir.config.home}/`, "~/"));
  const lines = ["No model is configured for chat. A model would be shown:"];
  for (const { path, size } of instructions) {
    lines.push(`  instructions  ${short(path)} ${color.dim(`${size} characters`)}`);
  }
  for (const { name, description, why } of memories) {
    const said = description === "" ? "" : ` — ${description}`;
    lines.push(`  memory        ${color.bold(sanitise(name))}${sanitise(said)}`);
    if (why.length > 0) lines.push(color.dim(`                ${sanitise(why.join("; "))}`));
  }
  for (const name of leftOut) lines.push(color.dim(`  no room for   ${sanitise(name)}`));
  if (memories.length === 0) lines.push("  no memory: none fits these words");
  if (instructions.length === 0) lines.push("  no instructions: there is no CLAUDE.md here");
  return lines.join("\n");
}

export async function greet(
  memdir: Memdir,
  model: { name: string; provider: string },
  terminal: Terminal,
  from: ResumedSession | null = null,
): Promise<void> {
  const { bold, dim, yellow } = terminal.color;
  const say = (text: string) => printFolded(terminal, text);
  const { rows, skipped } = await memdir.survey();
  const view = await memdir.index();
  const { maxLines, maxChars } = memdir.config.index;
  // A path stays whole, so that it can be copied.
  terminal.print(`${bold("memdir")} on ${memdir.location.project.root}`);
  terminal.print(dim(`  directory  ${memdir.location.dir}`));
  const none = "none, so this is the offline console (MEMDIR_MODEL names one)";
  say(dim(`  model      ${model.name === "" ? none : `${model.provider}/${model.name}`}`));
  if (rows.length === 0) {
    say("No memories saved yet.");
    say(`Type ${bold("remember that …")} to save the first one, or ${bold("/help")}.`);
  } else {
    say(dim(`  memories   ${countByType(rows, terminal.color)}`));
    say(dim(`  index      ${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters`));
  }
  const broken = rows.filter((row) => row.problems.length > 0).length;
  if (broken > 0) say(yellow(`  ${broken} with problems: memdir lint`));
  const odd = skipped.filter(({ isPlain }) => !isPlain).length;
  if (odd > 0) say(yellow(`  ${count(odd, "entry", "entries")} skipped: memdir doctor`));
  if (view.warning) say(yellow(`  ${view.warning.message}`));
  const waiting = openLearning(memdir).inbox.list().length;
  if (waiting > 0) say(yellow(`  ${count(waiting, "proposal waits", "proposals wait")}: /inbox`));
  if (rows.length > 0) say(dim("  /help lists what you can type"));
  if (from) say(describeSession(from, terminal.color));
}

function countByType(rows: readonly Row[], color: Paint): string {
  const counts = MEMORY_TYPES.map((type) => [rows.filter((row) => isOfType(row, type)).length, type] as const);
  const left = counts.reduce((sum, [found]) => sum - found, rows.length);
  const parts = [...counts, [left, "without a type"] as const].filter(([found]) => found > 0);
  return `${color.bold(String(rows.length))}: ${parts.map((part) => part.join(" ")).join(", ")}`;
}
