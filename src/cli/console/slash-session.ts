/** Slash commands about the session: what fills the model's context window, how to shorten it, and how to go back. */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { RewindWhat } from "../../agent/agent.ts";
import { notesPath } from "../../agent/notes.ts";
import type { WindowView } from "../../context/window.ts";
import { MemdirError } from "../../errors.ts";
import { openModel } from "../../open-agent.ts";
import { readSession } from "../../session/session-reader.ts";
import { listSessions } from "../../session/sessions.ts";
import { cutLine, sanitise } from "../../text/sanitise.ts";
import { cut } from "../../text/wrap.ts";
import { barOf, bold, count, dim, type Said } from "../../verb.ts";
import { sayRewound } from "../../verbs/rewind.ts";
import { agoInWords, findOne, placesOf } from "../../verbs/sessions.ts";
import { saySession } from "../agent.ts";
import { print, type Terminal } from "../terminal.ts";
import type { Console, SlashCommand } from "./slash-memory.ts";
import { formatBytes, formatTokens } from "./turn-view.ts";

export const SESSION_COMMANDS: readonly SlashCommand[] = [
  { name: "context", help: "Show what fills the model's context window", run: showContext },
  {
    name: "compact",
    usage: "[INSTRUCTIONS]",
    help: "Replace the conversation with a summary; rules and index are read again",
    run: compactNow,
  },
  { name: "summary", help: "Take notes on this session now, for /compact to use", run: takeNotes },
  {
    name: "clear",
    help: "Start a new session; the old one can be resumed",
    run: async (_, { agent, terminal }) => {
      const { sessionId, transcriptPath } = agent;
      await agent.clear();
      const resume = existsSync(transcriptPath) ? `; /resume ${sessionId.slice(0, 8)} brings the old one back` : "";
      print(terminal, [`a new session begins${resume}`]);
    },
  },
  { name: "resume", usage: "[ID]", help: "Continue an earlier session", run: resumeSession },
  {
    name: "rewind",
    usage: "[N] [code|conversation|both]",
    help: "Go back to the state before a prompt: files, conversation or both",
    run: rewindSession,
  },
  { name: "model", usage: "[PROVIDER/NAME]", help: "Show or change the model", run: switchModel },
];

async function showContext(_: string, { agent, terminal }: Console): Promise<void> {
  const view = await agent.window();
  print(terminal, sayWindow(view));
  if (!view.isCounted) print(terminal, [dim("tokens are estimated: the model has not counted them yet")]);
}

async function compactNow(rest: string, console: Console): Promise<void> {
  const { agent, terminal } = console;
  needModel(console);
  const result = await console.working("compacting", (signal) =>
    agent.compact({ instructions: rest === "" ? null : rest, signal }),
  );
  if (!result.ok) throw new MemdirError("model", result.problem);
  const from = result.from === "notes" ? "from the session's notes" : "by the model";
  const files = result.files.length === 0 ? "" : `, ${result.files.length} files shown again`;
  print(terminal, [`compacted ${from}: about ${result.before} tokens became ${result.after}${files}`]);
}

async function takeNotes(_: string, console: Console): Promise<void> {
  needModel(console);
  const result = await console.working("taking notes", (signal) => console.agent.takeNotes(signal));
  if (result.problem !== undefined) throw new MemdirError("model", result.problem);
  const { sessionId, transcriptPath } = console.agent;
  console.terminal.print(`the notes are in ${notesPath({ sessionsDir: dirname(transcriptPath), session: sessionId })}`);
}

async function resumeSession(rest: string, console: Console): Promise<void> {
  const { agent, memdir, terminal } = console;
  const id = rest === "" ? await chooseSession(console) : rest;
  if (id === null) return;
  const session = await readSession((await findOne(memdir, id, "/resume")).path);
  await agent.resume(session);
  print(terminal, saySession(session));
}

async function chooseSession({ agent, memdir, terminal, now }: Console): Promise<string | null> {
  const rows = (await listSessions(placesOf(memdir, false))).filter(({ id }) => id !== agent.sessionId);
  if (rows.length === 0) terminal.print("There are no earlier sessions here.");
  const describe = ({ id, at, title, messages }: (typeof rows)[number]) => ({
    id,
    label: `${agoInWords(at, now())}, ${messages} messages: ${title}`,
  });
  return pick(terminal, "Which session?", rows.slice(0, MAX_PICKED).map(describe));
}

/** A digit for each. */
const MAX_PICKED = 9;

/** The id of one of them; null when the person leaves, or nobody can be asked: they are shown then. */
async function pick(terminal: Terminal, question: string, rows: readonly { id: string; label: string }[]) {
  if (!terminal.interactive) for (const { id, label } of rows) print(terminal, [`${id.slice(0, 8)}  ${label}`]);
  if (!terminal.interactive || rows.length === 0) return null;
  const choices = rows.map(({ label }, at) => ({ key: String(at + 1), label }));
  const key = await terminal.choose(question, choices);
  return key === null ? null : (rows[Number(key) - 1]?.id ?? null);
}

/** What can go back, by the key for it. */
const WHATS: Readonly<Record<string, RewindWhat>> = { c: "code", t: "conversation", b: "both" };

async function rewindSession(rest: string, console: Console): Promise<void> {
  const { agent, terminal } = console;
  const [number = "", what = ""] = rest.split(/\s+/);
  const points = agent.checkpoints();
  if (points.length === 0) return print(terminal, ["There is nothing to go back to: no prompt was given yet."]);
  const recent = points.slice(-MAX_PICKED);
  const rows = recent.map(({ label, files, at }, i) => ({
    id: String(i + 1),
    label: `${agoInWords(at, console.now())}, ${count(files, "file")} changed since: ${cutLine(label, 60)}`,
  }));
  const key = number === "" ? await pick(terminal, "Back to before which prompt?", rows) : number;
  if (key === null) return;
  const point = recent[Number(key) - 1];
  if (!point) throw new MemdirError("usage", `there is no point ${sanitise(key)}; /rewind lists them`);
  const chosen = what === "" ? await chooseWhat(terminal) : what;
  if (chosen === null) return;
  const meant = Object.values(WHATS).find((one) => one === chosen);
  if (!meant) throw new MemdirError("usage", `"${sanitise(chosen)}" is not one of ${Object.values(WHATS).join(", ")}`);
  const { files, prompt } = await agent.rewind(point.id, meant);
  print(terminal, sayRewound(files));
  if (prompt !== null) {
    print(terminal, [
      "the conversation is back before that prompt; what was learnt from it stays (memdir history, memdir undo)",
    ]);
    console.suggest(prompt);
  }
}

async function chooseWhat(terminal: Terminal): Promise<string | null> {
  if (!terminal.interactive) return "both";
  const key = await terminal.choose("What goes back?", [
    { key: "b", label: "files and conversation" },
    { key: "c", label: "files only" },
    { key: "t", label: "conversation only" },
  ]);
  return key === null ? null : (WHATS[key] ?? null);
}

async function switchModel(rest: string, console: Console): Promise<void> {
  const { agent, env, terminal } = console;
  if (rest === "") {
    const { name, provider, windowTokens } = agent.model();
    const none = "no model: set MEMDIR_MODEL, or /model anthropic/<name>, openai/<name> or ollama/<name>";
    return print(terminal, [name === "" ? none : `${provider}/${name}, a window of ${windowTokens} tokens`]);
  }
  const model = openModel({ ...env, MEMDIR_MODEL: rest }, null, "the model");
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  if (model.takesTools === false)
    throw new MemdirError("usage", `${model.provider} only answers: it cannot be an agent's model`);
  agent.model(model);
  console.offline = false;
  print(terminal, [`${model.provider}/${model.name} answers from now on`]);
}

function needModel({ offline }: Console): void {
  if (offline) throw new MemdirError("usage", "this needs a model: set MEMDIR_MODEL, or choose one with /model");
}

/** With it the figures fit 40 columns. */
const MAX_NAME = 16;

/** Each part with its size and share; unless the provider counted the tokens, they are marked as approximate. */
export function sayWindow({ parts, windowTokens, totalTokens, freeTokens, share, isCounted }: WindowView): Said {
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  const free = { name: "free", bytes: null, tokens: freeTokens, share: Math.max(0, 1 - share) };
  const all = [...parts, free];
  // The largest fills its bar: shares of the window could not be told apart.
  const largest = Math.max(...all.map((part) => part.share));
  const rows = all.map(({ name, bytes, tokens, share }) => [
    cut(name, MAX_NAME),
    bytes === null ? "" : formatBytes(bytes),
    `${isCounted ? "" : "~"}${formatTokens(tokens)}`,
    percent(share),
    barOf(largest === 0 ? 0 : share / largest),
  ]);
  const summary = `${formatTokens(totalTokens)} of ${formatTokens(windowTokens)} tokens (${percent(share)})`;
  return [bold(summary), { rows, right: [1, 2, 3] }];
}
