/** What a line means in the console: a command, something to keep, or words for the model; and what the console says first. */

import type { Preview } from "../../agent/agent.ts";
import { MemdirError } from "../../errors.ts";
import { type Said, understandSaid } from "../../learn/said.ts";
import type { Memdir } from "../../memdir.ts";
import { openLearning } from "../../open-learn.ts";
import type { ResumedSession } from "../../session/session-reader.ts";
import { isOfType, MEMORY_TYPES } from "../../store/store.ts";
import { bold, count, dim, fold, type Said as Lines, warn } from "../../verb.ts";
import { saySaved } from "../../verbs/save.ts";
import { saySession } from "../agent.ts";
import { print, type Terminal } from "../terminal.ts";
import { runSlash } from "./slash-commands.ts";
import type { Console } from "./slash-memory.ts";
import { forgetSaid, saveSaid } from "./slash-memory.ts";

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
    const message = error.message.replace(
      /(^|[\s`])memdir (list|show|save|edit|forget|history|undo|search)\b/g,
      "$1/$2",
    );
    // An error on a pipe is one line.
    terminal.warn(fold(`memdir: ${message}`, terminal.interactive ? terminal.columns : undefined, 4));
    return "failed";
  }
}

/** Without a model: what was said is understood by rules and the classifier, and what a model would be shown is shown. */
async function answerOffline(text: string, console: Console): Promise<void> {
  const [, verb = "", rest = ""] = /^(remember|forget)\b:?\s*([\s\S]*)$/i.exec(text) ?? [];
  if (verb.toLowerCase() === "forget") return forgetSaid(rest, console);
  if (verb !== "") return saveSaid(rest, console);
  const { meaning } = console.memdir.config;
  const embed = meaning ? (await import("../../meaning/meaning.ts")).findEmbed() : null;
  const said = await understandSaid(text, console.now(), { embed });
  // Before anything new is kept: it is what is known now that would be shown.
  print(console.terminal, sayPreview(await console.agent.preview(text), console.memdir));
  const kept = said.filter(({ act, isUnsure }) => act !== "forget" && !isUnsure);
  for (const one of kept) await keep(one, console);
  if (kept.length === 0 && !text.trimEnd().endsWith("?"))
    print(console.terminal, [dim("Nothing was saved. To save a sentence: remember that …")]);
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

export function sayPreview({ memories, leftOut, instructions }: Preview, { config }: Memdir): Lines {
  const short = (path: string) => path.replace(`${config.home}/`, "~/");
  return [
    "No model is configured for chat. A model would be shown:",
    ...instructions.map(({ path, size }) => [`  instructions  ${short(path)} `, dim(`${size} characters`)]),
    ...memories.flatMap(
      ({ name, description, why }): Lines => [
        ["  memory        ", bold(name), description === "" ? "" : ` — ${description}`],
        ...(why.length > 0 ? [dim(`                ${why.join("; ")}`)] : []),
      ],
    ),
    ...leftOut.map((name) => dim(`  no room for   ${name}`)),
    ...(memories.length === 0 ? ["  no memory: none fits these words"] : []),
    ...(instructions.length === 0 ? ["  no instructions: there is no CLAUDE.md here"] : []),
  ];
}

export async function greet(
  memdir: Memdir,
  model: { name: string; provider: string },
  terminal: Terminal,
  from: ResumedSession | null = null,
): Promise<void> {
  const { color } = terminal;
  const { rows, skipped } = await memdir.survey();
  const view = await memdir.index();
  const { maxLines, maxChars } = memdir.config.index;
  // A path stays whole, so that it can be copied.
  terminal.print(`${color.bold("memdir")} on ${memdir.location.project.root}`);
  terminal.print(color.dim(`  directory  ${memdir.location.dir}`));
  const none = "none, so this is the offline console (MEMDIR_MODEL names one)";
  const begin: Lines = [
    "No memories saved yet.",
    ["Type ", bold("remember that …"), " to save the first one, or ", bold("/help"), "."],
  ];
  const types = MEMORY_TYPES.map((type) => [rows.filter((row) => isOfType(row, type)).length, type] as const);
  const left = types.reduce((sum, [found]) => sum - found, rows.length);
  const counts = [...types, [left, "without a type"] as const].flatMap(([found, type]) =>
    found > 0 ? [`${found} ${type}`] : [],
  );
  const known: Lines = [
    [dim("  memories   "), bold(String(rows.length)), dim(`: ${counts.join(", ")}`)],
    dim(`  index      ${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters`),
  ];
  const broken = rows.filter((row) => row.problems.length > 0).length;
  const odd = skipped.filter(({ isPlain }) => !isPlain).length;
  const waiting = openLearning(memdir).inbox.list().length;
  print(terminal, [
    dim(`  model      ${model.name === "" ? none : `${model.provider}/${model.name}`}`),
    ...(rows.length === 0 ? begin : known),
    ...(broken > 0 ? [warn(`  ${broken} with problems: memdir lint`)] : []),
    ...(odd > 0 ? [warn(`  ${count(odd, "entry", "entries")} skipped: memdir doctor`)] : []),
    ...(view.warning ? [warn(`  ${view.warning.message}`)] : []),
    ...(waiting > 0 ? [warn(`  ${count(waiting, "proposal waits", "proposals wait")}: /inbox`)] : []),
    ...(rows.length > 0 ? [dim("  /help lists what you can type")] : []),
    ...(from ? saySession(from) : []),
  ]);
}
