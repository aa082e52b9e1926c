/** The console on a terminal: the person types below, the agent works above. */

import { join } from "node:path";
import type { Token } from "marked";
import type { Agent } from "../../agent/agent.ts";
import type { Memdir } from "../../memdir.ts";
import { sessionsFolder } from "../../project/sessions-folder.ts";
import { sanitise } from "../../text/sanitise.ts";
import type { PermissionRequest } from "../../tools/permission.ts";
import { describeSession, openAgentFor } from "../agent.ts";
import type { Call } from "../command.ts";
import { NO_PROGRESS, type Paint, type Terminal } from "../terminal.ts";
import { openInput } from "./input.ts";
import type { Input } from "./input-state.ts";
import { answerLine, greet } from "./line.ts";
import { openPromptHistory, type PromptHistory } from "./prompt-history.ts";
import { openScreen, RESET_SEQUENCES, type Screen } from "./screen.ts";
import type { Console } from "./slash.ts";
import { completeSlash } from "./slash-commands.ts";
import { FRAME_MS, spinnerLine } from "./spinner.ts";
import { openTurnView } from "./turn-view.ts";

interface Stage {
  screen: Screen;
  input: Input;
  paint: Paint;
  terminal: Terminal;
  history: PromptHistory;
}

export async function runInteractive(call: Call, memdir: Memdir): Promise<number> {
  const isDumb = call.env.TERM === "dumb";
  const { lexer } = await import("marked");
  // Asked before the terminal is taken: what is wrong with a session or a model is said plainly.
  let stage: Stage | null = null;
  const { agent, offline, from } = await openAgentFor(call, memdir, (request) =>
    stage ? askPermission(stage, request) : Promise.resolve("deny"),
  );
  const { name, provider } = agent.model();
  await greet(memdir, name === "" ? "" : `${provider}/${name}`, call.terminal);
  if (from) call.terminal.print(describeSession(from, call.terminal.color));
  stage = openStage(call, memdir, isDumb);
  const restore = () => void (!isDumb && process.stdout.write(RESET_SEQUENCES.join("")));
  process.once("exit", restore);
  // What was said is on disk already; the terminal is given back as it was, and commands that run end with us.
  const endings = Object.entries(ENDING_SIGNALS).map(([signal, code]) =>
    listen(process, signal, () => process.exit(code)),
  );
  try {
    await converse(stage, openConsole(call, stage, memdir, agent, offline), lexer);
    if (agent.isLearning())
      await working(
        stage,
        () => ENDING,
        (signal) => agent.drain({ signal }),
      );
  } finally {
    stage.input.close();
    stage.screen.close();
    process.off("exit", restore);
    for (const end of endings) end();
    agent.close();
  }
  const { sessionId: id, transcriptPath: path } = agent;
  if (agent.prompts().length > 0)
    call.terminal.print(call.terminal.color.dim(`memdir --resume ${id} goes on with this (${path})`));
  return 0;
}

const ENDING = { label: "finishing what is being learnt, Ctrl-C leaves at once", tokens: null };
const ENDING_SIGNALS = { SIGTERM: 143, SIGHUP: 129 };

async function converse(stage: Stage, console: Console, lexer: (text: string) => Token[]): Promise<void> {
  const talk = (words: string) => takeTurn(stage, console, words, lexer);
  for (;;) {
    const line = await stage.input.read();
    if (line.type === "end") return;
    const { problem } = stage.history.add(line.text);
    if (problem !== null) stage.terminal.warn(`memdir: note: ${problem}`);
    if ((await answerLine(line.text, console, talk)) === "leave") return;
  }
}

async function takeTurn(
  stage: Stage,
  console: Console,
  words: string,
  lexer: (text: string) => Token[],
): Promise<void> {
  const { screen, paint } = stage;
  const { cwd } = console.memdir.location.project;
  const out = { print: screen.print, stream: screen.stream };
  const view = openTurnView(out, { paint, columns: screen.columns, cwd, lexer });
  await working(stage, view.status, async (signal) => {
    const result = await console.agent.say(words, { signal, onEvent: view.show });
    screen.endStream();
    view.end(result);
  });
}

/** The spinner runs, and Ctrl-C stops the work and not the program. */
async function working<T>(
  { input, screen, paint }: Stage,
  status: () => { label: string; tokens: number | null },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const started = performance.now();
  const spin = () => {
    const elapsedMs = performance.now() - started;
    input.status([spinnerLine({ ...status(), elapsedMs }, screen.columns(), paint)]);
  };
  const end = input.onInterrupt(() => stop.abort());
  spin();
  const timer = setInterval(spin, FRAME_MS);
  try {
    return await work(stop.signal);
  } finally {
    clearInterval(timer);
    end();
    input.status([]);
  }
}

async function askPermission(stage: Stage, request: PermissionRequest): Promise<"allow" | "deny" | "always"> {
  const { screen, input, paint } = stage;
  screen.print(`${paint.yellow("?")} ${sanitise(request.summary)}`);
  if (request.detail !== undefined) screen.print(paint.dim(clip(sanitise(request.detail), screen.rows())));
  const key = await input.question(`Allow ${sanitise(request.kind)}?`, [
    { key: "y", label: "yes, in this session" },
    { key: "a", label: "always in this project" },
    { key: "n", label: "no" },
  ]);
  return key === "y" ? "allow" : key === "a" ? "always" : "deny";
}

/** Half the screen at most: the question must be seen with it. */
function clip(text: string, rows: number): string {
  const lines = text.split("\n");
  const room = Math.max(6, Math.floor(rows / 2));
  return lines.length <= room ? text : [...lines.slice(0, room), `… ${lines.length - room} more lines`].join("\n");
}

function openStage(call: Call, memdir: Memdir, isDumb: boolean): Stage {
  const { stdin, stdout } = process;
  const paint = call.terminal.color;
  const screen = openScreen({
    write: (text) => void stdout.write(text),
    columns: () => stdout.columns,
    rows: () => stdout.rows,
    isColour: paint.on,
    isDumb,
  });
  const { config, location } = memdir;
  const file = join(sessionsFolder(config, location.project), "prompts.jsonl");
  const history = openPromptHistory(file, call);
  const input = openInput({
    stdin,
    screen,
    paint,
    history,
    placeholder: "say something, or /help",
    completions: (text, cursor) =>
      completeSlash(text.slice(0, cursor)).map(({ text: insert, help }) => ({
        label: insert.trim(),
        description: help,
        insert,
        from: 0,
      })),
    now: () => performance.now(),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    onResize: (listener) => listen(stdout, "resize", listener),
    onSignal: (listener) => listen(process, "SIGINT", listener),
    ...(process.platform !== "win32" && { suspend }),
  });
  const terminal: Terminal = {
    ...call.terminal,
    print: (text) => screen.print(text),
    warn: (text) => screen.print(paint.yellow(text)),
    progress: () => NO_PROGRESS,
  };
  return { screen, input, paint, terminal, history };
}

/** Ctrl-Z: the shell takes over, until it brings us back. */
function suspend(): Promise<void> {
  // Without a keyboard to read from, nothing else would keep the process.
  const alive = setInterval(() => {}, 60_000);
  return new Promise((resolve) => {
    process.once("SIGCONT", () => {
      clearInterval(alive);
      resolve();
    });
    process.kill(process.pid, "SIGTSTP");
  });
}

function listen(source: NodeJS.EventEmitter, event: string, listener: () => void): () => void {
  source.on(event, listener);
  return () => void source.off(event, listener);
}

function openConsole(call: Call, stage: Stage, memdir: Memdir, agent: Agent, offline: boolean): Console {
  const { input, screen, terminal } = stage;
  return {
    ...call,
    json: false,
    open: async () => memdir,
    // Prints above the input line.
    terminal,
    memdir,
    agent,
    offline,
    columns: screen.columns,
    choose: (question, choices) => input.question(question, choices),
    release: input.release,
    working: (label, work) => working(stage, () => ({ label, tokens: null }), work),
    suggest: input.suggest,
  };
}
