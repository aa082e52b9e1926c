/** Slash commands about the session: what fills the model's context window, as a chart, how to shorten it, and how to go back. */

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
import { cut, pad, widthOf } from "../../text/wrap.ts";
import { count, dim } from "../../verb.ts";
import { sayRewound } from "../../verbs/rewind.ts";
import { agoInWords, findOne, placesOf } from "../../verbs/sessions.ts";
import { describeSession } from "../agent.ts";
import { type Paint, print, type Terminal } from "../terminal.ts";

import type { Console, SlashCommand } from "./slash-memory.ts";
import { formatBytes, formatTokens, printFolded } from "./turn-view.ts";

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
  terminal.print(drawWindow(view, { columns: terminal.columns ?? MAX_COLUMNS, color: terminal.color }));
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
  printFolded(terminal, describeSession(session, terminal.color));
}

async function chooseSession({ agent, memdir, terminal, now }: Console): Promise<string | null> {
  const rows = (await listSessions(placesOf(memdir, false))).filter(({ id }) => id !== agent.sessionId).slice(0, 9);
  if (rows.length === 0) {
    terminal.print("There are no earlier sessions here.");
    return null;
  }
  const label = ({ at, title, messages }: (typeof rows)[number]) =>
    `${agoInWords(at, now())}, ${messages} messages: ${sanitise(title)}`;
  if (terminal.interactive) {
    const key = await terminal.choose(
      "Which session?",
      rows.map((row, i) => ({ key: String(i + 1), label: label(row) })),
    );
    return key === null ? null : (rows[Number(key) - 1]?.id ?? null);
  }
  terminal.print(rows.map((row) => `${row.id.slice(0, 8)}  ${label(row)}`).join("\n"));
  return null;
}

/** What can go back, by the key for it. */
const WHATS: Readonly<Record<string, RewindWhat>> = { c: "code", t: "conversation", b: "both" };

async function rewindSession(rest: string, console: Console): Promise<void> {
  const { agent, terminal } = console;
  const [number = "", what = ""] = rest.split(/\s+/);
  const points = agent.checkpoints();
  if (points.length === 0) return print(terminal, ["There is nothing to go back to: no prompt was given yet."]);
  const recent = points.slice(-9);
  const rows = recent.map(({ label, files, at }, i) => ({
    key: String(i + 1),
    label: `${agoInWords(at, console.now())}, ${count(files, "file")} changed since: ${cutLine(label, 60)}`,
  }));
  const key =
    number !== "" ? number : terminal.interactive ? await terminal.choose("Back to before which prompt?", rows) : null;
  if (key === null) {
    if (!terminal.interactive) terminal.print(rows.map(({ key: n, label }) => `${n}  ${label}`).join("\n"));
    return;
  }
  const point = recent[Number(key) - 1];
  if (!point) throw new MemdirError("usage", `there is no point ${sanitise(key)}; /rewind lists them`);
  const chosen = what === "" ? await chooseWhat(terminal) : what;
  if (chosen === null) return;
  const meant = Object.values(WHATS).find((one) => one === chosen);
  if (!meant) throw new MemdirError("usage", `"${sanitise(chosen)}" is none of ${Object.values(WHATS).join(", ")}`);
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
  const model = openModel({ ...env, MEMDIR_MODEL: rest });
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

/** Below, nothing can be told from a bar; above, eyes get lost between a name and its number. */
const MIN_COLUMNS = 20;
const MAX_COLUMNS = 120;
const MIN_BAR = 4;
const MAX_BAR = 40;
const FREE = "·";
/** Told apart by shape, so that it works without colour; the parts after the last begin again. */
const FILLS = ["█", "▓", "▒", "░", "▚", "▤", "▥", "▨", "▦", "▧", "▩", "▞"] as const;

/** Lines joined by breaks, none wider than `columns`. Unless the provider counted the tokens, they are marked as approximate. */
export function drawWindow(view: WindowView, options: { columns: number; color: Paint }): string {
  const columns = Math.max(MIN_COLUMNS, Math.min(options.columns, MAX_COLUMNS));
  const { color } = options;
  const { windowTokens, totalTokens, freeTokens, isCounted } = view;
  const tints = [color.blue, color.green, color.yellow, color.magenta, color.cyan];
  const parts = view.parts.map((part, at) => ({
    ...part,
    fill: FILLS[at % FILLS.length] ?? FREE,
    tint: tints[at % tints.length] ?? color.dim,
  }));
  const share = Math.max(0, 1 - view.share);
  const free = { name: "free", bytes: null, tokens: freeTokens, share, fill: FREE, tint: color.dim };
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
  const rows = [...parts, free].map((part) => {
    const tokens = `${isCounted ? "" : "~"}${formatTokens(part.tokens)}`;
    return { ...part, cells: [part.bytes === null ? "" : formatBytes(part.bytes), tokens, percent(part.share)] };
  });
  const cellWidths = [0, 1, 2].map((cell) => Math.max(...rows.map((row) => widthOf(row.cells[cell] ?? ""))));
  const numbers = cellWidths.reduce((sum, width) => sum + width + 1, 0);
  const longest = Math.max(...rows.map((row) => widthOf(row.name)));
  const nameWidth = Math.max(4, Math.min(longest, columns - numbers - 2 - MIN_BAR - 1));
  const barWidth = Math.max(0, Math.min(MAX_BAR, columns - numbers - 2 - nameWidth - 1));
  // The largest fills its bar: in a narrow terminal shares of the window could not be told apart.
  const largest = Math.max(...rows.map((row) => row.share));
  const lines = rows.map(({ name, share, fill, tint, cells }) => {
    const filled = share > 0 ? Math.min(barWidth, Math.max(1, Math.round((share / largest) * barWidth))) : 0;
    const bar = `${tint(fill.repeat(filled))}${" ".repeat(barWidth - filled)}`;
    const figures = cells.map((cell, at) => ` ${pad(cell, cellWidths[at] ?? 0, "right")}`).join("");
    return cut(`${tint(fill)} ${pad(cut(name, nameWidth), nameWidth)} ${bar}${figures}`, columns);
  });
  const summary = `${formatTokens(totalTokens)} of ${formatTokens(windowTokens)} tokens (${percent(view.share)})`;
  // Every part that is not empty has at least one cell, as long as there are enough; the last cells are what is free.
  const whole = Math.max(windowTokens, totalTokens);
  const shown = parts.filter(({ tokens }) => tokens > 0);
  let stacked = "";
  let left = columns;
  for (const [at, { tokens, fill, tint }] of shown.entries()) {
    const wanted = Math.max(1, Math.round((tokens / whole) * columns));
    const width = Math.max(0, Math.min(wanted, left - (shown.length - at - 1)));
    stacked += tint(fill.repeat(width));
    left -= width;
  }
  stacked += color.dim(FREE.repeat(Math.max(0, left)));
  return [cut(color.bold(summary), columns), stacked, ...lines].join("\n");
}
