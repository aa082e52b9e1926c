/** One turn of the agent as a person sees it: the answer as it comes, each tool call in a line, and what is going on right now. */

import { isAbsolute, relative } from "node:path";
import type { Token } from "marked";
import type { AgentEvent } from "../../agent/state.ts";
import type { TurnResult } from "../../agent/turn.ts";
import type { ToolCall } from "../../hooks/event.ts";
import { sanitise, sanitiseLine } from "../../text/sanitise.ts";
import { cut, widthOf } from "../../text/wrap.ts";
import type { Paint } from "../../verb.ts";
import { bad, count, countMemories, dim, type Said, warn } from "../../verb.ts";
import { print, type Terminal } from "../terminal.ts";
import { openMarkdown } from "./markdown.ts";
import type { Status } from "./slash-memory.ts";

interface ViewOptions {
  terminal: Terminal;
  /** Paths below it are shown relative to it. */
  cwd: string;
  lexer: (text: string) => Token[];
}

/** For output whose width is not known. */
export const DEFAULT_COLUMNS = 100;

type Shows = { [T in AgentEvent["type"]]: (event: Extract<AgentEvent, { type: T }>) => void };

export function openTurnView({ terminal, cwd, lexer }: ViewOptions) {
  const { color: paint } = terminal;
  // Asked for each time: a terminal may change its size.
  const columns = () => terminal.columns ?? DEFAULT_COLUMNS;
  const markdown = openMarkdown({ columns, color: paint.on, lexer });
  let tokens = 0;
  let written = 0;
  /** What runs now, by the id of the call. */
  const running = new Map<string, string>();
  let waiting = "";
  // Its code stays whole, so that it can be copied.
  const stream = (text: string) => void (text !== "" && terminal.print(text.replace(/\n$/, "")));
  const flush = () => stream(markdown.end());
  const say = (...lines: Said) => {
    flush();
    print(terminal, lines, columns());
  };
  const note = (text: string) => say(dim(cut(sanitiseLine(text), Math.max(20, columns()))));

  const shows: Shows = {
    text({ delta }) {
      waiting = "";
      written += delta.length;
      stream(markdown.push(delta));
    },
    retry({ waitMs, error }) {
      waiting = `waiting ${Math.ceil(waitMs / 1000)} s to try again`;
      note(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s`);
    },
    turn() {
      waiting = "";
    },
    message: flush,
    "tool-start": ({ call }) => void running.set(call.id, `${call.name} …`),
    "tool-end"({ call, result }) {
      running.delete(call.id);
      const options = { columns: columns(), paint, cwd };
      flush();
      terminal.print(`${toolLine(call, options)}\n${toolResultLine(result, options)}`);
    },
    usage({ usage }) {
      tokens += usage.output;
      written = 0;
    },
    recalled: ({ memories }) =>
      note(`recalled ${countMemories(memories.length)}: ${memories.map(({ name }) => name).join(", ")}`),
    instructions: ({ paths }) => note(`also follows ${paths.map((path) => path.replace(`${cwd}/`, "")).join(", ")}`),
    saved({ action, file, notices }) {
      note(`${action === "created" ? "remembers" : "updated"} ${file}`);
      for (const notice of notices) note(`  ${notice}`);
    },
    learnt({ saved, waiting: proposals, problem }) {
      for (const { file, action } of saved) if (action !== "inbox") note(`learnt: ${action} ${file}`);
      if (saved.some(({ action }) => action === "inbox"))
        note(`${count(proposals, "proposal waits", "proposals wait")}: /inbox`);
      if (problem !== null) note(`nothing was learnt from this turn: ${problem}`);
    },
    compacting() {
      waiting = "compacting the conversation";
    },
    compacted({ before, after }) {
      waiting = "";
      note(`compacted the conversation: about ${before} tokens became ${after}`);
    },
    "sub-agent"({ name, id, event }) {
      const key = `sub-agent ${id}`;
      if (event.type === "tool-start") running.set(key, `${name}: ${event.call.name} …`);
      else if (event.type === "turn") running.set(key, `${name} thinks …`);
      else if (event.type === "end") {
        running.delete(key);
        note(`${name} is done after ${count(event.turns, "step")}`);
      }
    },
    problem: ({ message }) => say([warn(message)]),
  };

  return {
    // Each kind has the function for it: the compiler checks the table, and cannot follow the look-up.
    show: (event: AgentEvent) => (shows[event.type] as (event: AgentEvent) => void)(event),
    end({ ended, error }: TurnResult): void {
      if (error && ended === "error") say([bad(error.message)]);
      else if (ENDS[ended]) say(warn(`${ENDS[ended]}${MAY_GO_ON.has(ended) ? "; say “go on” to continue" : ""}`));
      else flush();
    },
    /** For the line with the spinner: what is going on, and how many tokens were written. */
    status: () => ({
      label: [...running.values()].map(sanitiseLine).join(", ") || waiting || (written > 0 ? "answering" : "thinking"),
      // Four characters are a token, until the provider says how many there were.
      tokens: tokens + Math.round(written / 4),
    }),
  };
}

/** Why an answer is not all that it could be. */
export const ENDS: Partial<Record<TurnResult["ended"], string>> = {
  aborted: "stopped",
  turns: "stopped after too many steps",
  length: "the answer was cut at its limit",
  refused: "the model declined to answer",
};

/** The model had more to say. */
export const MAY_GO_ON: ReadonlySet<TurnResult["ended"]> = new Set(["turns", "length"]);

interface ToolLineOptions extends Pick<ViewOptions, "cwd"> {
  paint: Paint;
  columns: number;
}

const LEAD = "  └ ";
/** Only what is shown is looked at: inputs and results may be very long. */
const MAX_LOOKED_AT = 4000;

/** `● Read src/a.ts`, `● Bash npm test`. */
export function toolLine(call: ToolCall, { columns, paint, cwd }: ToolLineOptions): string {
  const name = cut(sanitiseLine(call.name), columns);
  return cut(`${paint.green("●")} ${paint.bold(name)} ${subjectOf(call, cwd)}`.trimEnd(), columns);
}

/** Its first line and how many there are, dim; an error in red. */
export function toolResultLine(
  { content, isError }: { content: string; isError?: boolean },
  { columns, paint }: Omit<ToolLineOptions, "cwd">,
): string {
  const lines = content.replace(/\n$/, "").split("\n").length;
  const [first = "(nothing)"] = /\S.*/.exec(sanitise(content.slice(0, MAX_LOOKED_AT))) ?? [];
  const rest = lines > 1 ? ` (${lines} lines)` : "";
  const said = cut(first.trimEnd(), Math.max(1, columns - LEAD.length - rest.length));
  return cut(isError ? `${LEAD}${paint.red(said)}${paint.dim(rest)}` : paint.dim(`${LEAD}${said}${rest}`), columns);
}

/** What a call is about, as one line. */
function subjectOf({ name, input }: ToolCall, cwd: string): string {
  const text = (key: string) =>
    typeof input[key] === "string" ? sanitiseLine(input[key].slice(0, MAX_LOOKED_AT)) : "";
  const file = shorten(text("file_path") || text("path"), cwd);
  if (name === "Glob" || name === "Grep") return [text("pattern"), file && `in ${file}`].filter(Boolean).join(" ");
  const told = ["command", "pattern", "query", "description", "prompt", "url"].map(text).find(Boolean);
  const subject = name === "Bash" ? text("command") : file || told;
  if (subject !== undefined || Object.keys(input).length === 0) return subject ?? "";
  return sanitiseLine(JSON.stringify(input).slice(0, MAX_LOOKED_AT));
}

function shorten(file: string, cwd: string): string {
  const inside = isAbsolute(file) ? relative(cwd, file) : file;
  return inside === "" || /^\.\.(?:[\\/]|$)/.test(inside) || isAbsolute(inside) ? file : inside;
}

// --- The line that says what is going on, for how long, and how to stop it: a pure function of the time.

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** How long a frame is shown: about twelve a second look smooth and cost little. */
export const FRAME_MS = 80;

/** `⠙ Thinking… 12s · 1.2k tokens · Ctrl-C stops`; what does not fit is left out from the end. */
export function spinnerLine(
  { label, elapsedMs, tokens }: ReturnType<Status> & { elapsedMs: number },
  columns: number,
  paint: Paint,
) {
  const frame = FRAMES.charAt(Math.floor(Math.max(0, elapsedMs) / FRAME_MS) % FRAMES.length);
  const head = `${frame} ${sanitiseLine(label)}`;
  const details = [formatElapsed(elapsedMs), ...(tokens ? [`${formatTokens(tokens)} tokens`] : []), "Ctrl-C stops"];
  while (details.length > 0 && widthOf(`${head} ${details.join(" · ")}`) > columns) details.pop();
  return details.length === 0
    ? cut(paint.cyan(head), columns)
    : `${paint.cyan(head)}${paint.dim(` ${details.join(" · ")}`)}`;
}

/** `4s`, `2m 05s`, `1h 02m`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const two = (value: number) => String(value % 60).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${two(seconds)}s` : `${Math.floor(minutes / 60)}h ${two(minutes)}m`;
}

/** `950`, `1.2k`, `35k`, `1.0M`. */
export const formatTokens = (count: number) => scale(count, 1000, ["", "k", "M", "G"]);

/** `950 B`, `1.2 KB`, `35 KB`. */
export const formatBytes = (count: number) => scale(count, 1024, [" B", " KB", " MB", " GB"]);

/** One digit behind the point below ten, none from there on; 999.6 is already the next unit's 1.0. */
function scale(count: number, base: number, [unit = "", ...larger]: readonly string[], isScaled = false): string {
  const value = Math.max(0, count);
  if (Math.round(value) >= base && larger.length > 0) return scale(value / base, base, larger, true);
  return `${isScaled && value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}
