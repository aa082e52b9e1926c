/** Slash commands about the session: what fills it, how to shorten it, and how to go back. */

import { dirname } from "node:path";
import type { RewindWhat } from "../../agent/agent.ts";
import { MemdirError } from "../../errors.ts";
import { notesPath } from "../../learn/session-notes.ts";
import { openModel } from "../../open-agent.ts";
import { readSession } from "../../session/session-reader.ts";
import { findSession, listSessions } from "../../session/sessions.ts";
import { cutLine } from "../../text/sanitise.ts";
import { placesOf } from "../sessions.ts";
import { drawWindow } from "./chart.ts";
import { openPaint } from "./paint.ts";
import { sanitise } from "./sanitise.ts";
import { type Desk, type SlashCommand, stay } from "./slash-desk.ts";
import { describeSession } from "./slash-resume.ts";

export const SESSION_COMMANDS: readonly SlashCommand[] = [
  { name: "context", usage: "", help: "what fills the model's window", run: stay(showContext) },
  {
    name: "compact",
    usage: "[WISH]",
    help: "replaces the conversation by a summary; rules and index are read again",
    run: stay(compactNow),
  },
  { name: "summary", usage: "", help: "takes notes of this session now, which /compact uses", run: stay(takeNotes) },
  {
    name: "clear",
    usage: "",
    help: "starts a new session; the old one can be resumed",
    run: stay(async (_, { agent, terminal }) => {
      const old = agent.sessionId;
      await agent.clear();
      terminal.print(`a new session begins; /resume ${old.slice(0, 8)} brings the old one back`);
    }),
  },
  { name: "resume", usage: "[ID]", help: "goes on with an earlier session", run: stay(resumeSession) },
  {
    name: "rewind",
    usage: "[N] [code|conversation|both]",
    help: "goes back to before a prompt: files, conversation or both",
    run: stay(rewindSession),
  },
  { name: "model", usage: "[PROVIDER/NAME]", help: "the model that answers, or another one", run: stay(switchModel) },
];

async function showContext(_: string, { agent, terminal, columns }: Desk): Promise<void> {
  const view = await agent.window();
  const paint = openPaint(terminal.colored);
  terminal.print(drawWindow(view, { columns: columns(), color: paint }));
  if (!view.isCounted) terminal.print(terminal.color.dim("tokens are estimated: the model has not counted them yet"));
}

async function compactNow(rest: string, desk: Desk): Promise<void> {
  const { agent, terminal } = desk;
  needModel(desk);
  const result = await desk.working("compacting", (signal) =>
    agent.compact({ instructions: rest === "" ? null : rest, signal }),
  );
  if (!result.ok) throw new MemdirError("model", result.problem);
  const from = result.from === "notes" ? "from the session's notes" : "by the model";
  const files = result.files.length === 0 ? "" : `, ${result.files.length} files shown again`;
  terminal.print(`compacted ${from}: about ${result.before} tokens became ${result.after}${files}`);
}

async function takeNotes(_: string, desk: Desk): Promise<void> {
  needModel(desk);
  const result = await desk.working("taking notes", (signal) => desk.agent.takeNotes(signal));
  if (result.problem !== undefined) throw new MemdirError("model", result.problem);
  const { sessionId, transcriptPath } = desk.agent;
  desk.terminal.print(`the notes are in ${notesPath({ sessionsDir: dirname(transcriptPath), session: sessionId })}`);
}

async function resumeSession(rest: string, desk: Desk): Promise<void> {
  const { agent, memdir, terminal } = desk;
  const places = placesOf(memdir, false);
  const id = rest === "" ? await chooseSession(desk) : rest;
  if (id === null) return;
  const found = await findSession(places, id);
  if (!found) throw new MemdirError("not-found", `there is no session ${sanitise(id)} here; /resume lists them`);
  if ("ambiguous" in found) {
    throw new MemdirError("ambiguous", `several sessions begin with ${sanitise(id)}; give more of the id`);
  }
  const session = await readSession(found.path);
  await agent.resume(session);
  terminal.print(describeSession(session, terminal.color));
}

async function chooseSession({ agent, memdir, choose, terminal, now }: Desk): Promise<string | null> {
  const rows = (await listSessions(placesOf(memdir, false))).filter(({ id }) => id !== agent.sessionId).slice(0, 9);
  if (rows.length === 0) {
    terminal.print("There are no earlier sessions here.");
    return null;
  }
  const label = ({ at, title, messages }: (typeof rows)[number]) =>
    `${agoInWords(at, now())}, ${messages} messages: ${sanitise(title)}`;
  if (choose) {
    const key = await choose(
      "Which session?",
      rows.map((row, i) => ({ key: String(i + 1), label: label(row) })),
    );
    return key === null ? null : (rows[Number(key) - 1]?.id ?? null);
  }
  terminal.print(rows.map((row) => `${row.id.slice(0, 8)}  ${label(row)}`).join("\n"));
  return null;
}

const WHATS: readonly RewindWhat[] = ["code", "conversation", "both"];

async function rewindSession(rest: string, desk: Desk): Promise<void> {
  const { agent, choose, terminal } = desk;
  const [number = "", what = ""] = rest.split(/\s+/);
  const points = agent.checkpoints();
  if (points.length === 0) return terminal.print("There is nothing to go back to: no prompt was given yet.");
  const recent = points.slice(-9);
  const rows = recent.map(({ label, files, at }, i) => ({
    key: String(i + 1),
    label: `${agoInWords(at, desk.now())}, ${files} ${files === 1 ? "file" : "files"} changed since: ${cutLine(label, 60)}`,
  }));
  const key = number !== "" ? number : choose ? await choose("Back to before which prompt?", rows) : null;
  if (key === null) {
    if (!choose) terminal.print(rows.map(({ key: n, label }) => `${n}  ${label}`).join("\n"));
    return;
  }
  const point = recent[Number(key) - 1];
  if (!point) throw new MemdirError("usage", `there is no point ${sanitise(key)}; /rewind lists them`);
  const chosen = what === "" ? await chooseWhat(desk) : what;
  if (chosen === null) return;
  if (!WHATS.includes(chosen as RewindWhat))
    throw new MemdirError("usage", `"${sanitise(chosen)}" is none of ${WHATS.join(", ")}`);
  const { files, prompt } = await agent.rewind(point.id, chosen as RewindWhat);
  for (const line of describeRewind(files)) terminal.print(line);
  if (prompt !== null) {
    terminal.print(
      "the conversation is back before that prompt; what was learnt from it stays (memdir history, memdir undo)",
    );
    desk.suggest(prompt);
  }
}

async function chooseWhat({ choose }: Desk): Promise<string | null> {
  if (!choose) return "both";
  const keys: Record<string, RewindWhat> = { b: "both", c: "code", t: "conversation" };
  const key = await choose("What goes back?", [
    { key: "b", label: "files and conversation" },
    { key: "c", label: "files only" },
    { key: "t", label: "conversation only" },
  ]);
  return key === null ? null : (keys[key] ?? null);
}

const DONE: Record<string, string> = { restore: "restored", remove: "removed", refused: "not changed" };

export function describeRewind(
  report: { steps: { path: string; action: string; outside: boolean; reason?: string }[]; undo: string | null } | null,
): string[] {
  if (!report) return [];
  const changed = report.steps.filter(({ action }) => action !== "none");
  if (changed.length === 0) return ["no file had to be changed"];
  return changed.map(({ path, action, outside, reason }) => {
    const note = reason ? `: ${reason}` : outside ? " (somebody else had changed it since; that is kept too)" : "";
    return `${DONE[action] ?? action} ${sanitise(path)}${note}`;
  });
}

async function switchModel(rest: string, desk: Desk): Promise<void> {
  const { agent, env, terminal } = desk;
  if (rest === "") {
    const { name, provider, windowTokens } = agent.model();
    const none = "no model: set MEMDIR_MODEL, or /model anthropic/<name>, openai/<name> or ollama/<name>";
    return terminal.print(name === "" ? none : `${provider}/${name}, a window of ${windowTokens} tokens`);
  }
  const model = openModel({ ...env, MEMDIR_MODEL: rest });
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  agent.model(model);
  desk.offline = false;
  terminal.print(`${model.provider}/${model.name} answers from now on`);
}

function needModel({ offline }: Desk): void {
  if (offline) throw new MemdirError("usage", "this needs a model: set MEMDIR_MODEL, or choose one with /model");
}

function agoInWords(at: string, now: Date): string {
  const minutes = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 60_000));
  if (!Number.isFinite(minutes)) return "at some time";
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : at.slice(0, 10);
}
