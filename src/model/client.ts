/** A command line client as a model: started for one question in an empty folder, told it on standard input, and ended with all it started. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { type ChildCall, findProgram, runChild } from "../child-group.ts";
import { makeFolders, moveInto, PRIVATE_MODE, writeTemporary } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { CHILD_VARIABLE, type Env } from "../world.ts";
import {
  type Ask,
  type AskAnswer,
  type AskError,
  type AskRequest,
  type Message,
  NO_USAGE,
  textOf,
  usedNothing,
} from "./ask.ts";
import type { Client, ClientCall, Heard } from "./clients.ts";
import { clean, fault, quoted } from "./exchange.ts";

export interface ClientOptions {
  client: Client;
  /** As the client names it; "" for its own choice. */
  model: string;
  env: Env;
  limitMs?: number;
}

/** Small models take seconds, and a background process has two minutes in all. */
const LIMIT_MS = 90_000;
/** It reads files. */
const LIST_MS = 20_000;
/** Far more than an answer with its events; whatever prints more is not answering. */
const MAX_OUT_BYTES = 8 << 20;
/** Whatever it started and left keeps our pipes open, and has nothing more to do. */
const DRAIN_MS = 1000;
/** Some try for ever while an account's limit is reached, and only say so in their log; a moment's limit has passed by then. */
const LIMITED_LINES = 3;
/** Enough of what it says beside the answer to see why there is none. */
const MAX_SAID_CHARS = 64 << 10;

/** Must not throw. Nothing of the client runs and no file of the question is left when it returns. */
export function openClient({ client, model, env, limitMs = LIMIT_MS }: ClientOptions): Ask {
  return async (request) => {
    if (request.tools?.length) {
      const message = `${client.title} as a model only answers, and cannot be given tools; name a provider's model in MEMDIR_MODEL for this`;
      return { ok: false, error: fault("bad-request", message) };
    }
    const program = findProgram(env, client.program);
    if (program === null) {
      const message = `\`${client.program}\` was not found on your PATH, outside this project; install ${client.title}, or choose another model (MEMDIR_MODEL or learn.model)`;
      return { ok: false, error: fault("bad-request", message) };
    }
    let folder: string | null = null;
    try {
      folder = realpathSync(mkdtempSync(join(isAbsolute(env.TMPDIR ?? "") ? env.TMPDIR! : tmpdir(), "memdir-model-")));
      return await askIn(folder, { program: program.file, client, model, env: program.env, limitMs }, request);
    } catch (error) {
      const message = `${client.title} could not be asked: ${clean((error as Error).message)}`;
      return { ok: false, error: fault("bad-answer", message) };
    } finally {
      const gone = folder;
      // What a process that was just killed still had open, Windows keeps for a moment.
      if (gone !== null) attempt(() => rmSync(gone, { recursive: true, force: true, maxRetries: 3 }), null);
    }
  };
}

async function askIn(
  folder: string,
  { program, client, model, env, limitMs }: Required<ClientOptions> & { program: string },
  request: AskRequest,
): Promise<AskAnswer> {
  const { schema, signal } = request;
  const cwd = client.place?.(env) ?? join(folder, "empty");
  makeFolders(cwd, 0o700);
  const call: ClientCall = {
    model,
    env,
    cwd,
    systemFile: join(folder, "system.md"),
    schemaFile: join(folder, "schema.json"),
    schema,
    session: randomUUID(),
    servers: [],
    maxTokens: request.maxTokens,
  };
  writeFileSync(call.systemFile, request.system.map(({ text }) => text).join("\n\n") || "Answer the question.");
  if (schema) writeFileSync(call.schemaFile, JSON.stringify(client.schemaOf?.(schema) ?? schema));
  for (const [name, text] of Object.entries(client.files ?? {})) {
    const path = join(cwd, name);
    makeFolders(dirname(path), 0o700);
    // Aside and renamed: another question may be reading it.
    moveInto(writeTemporary(dirname(path), text, PRIVATE_MODE, "file", false), path, false);
  }
  const run = (call: ClientCall, args: readonly string[], input: string, limitMs: number) =>
    runProgram(program, args, { cwd: call.cwd, env: childEnv(client, call, folder), input, limitMs, signal });

  if (client.servers) {
    const { args, read } = client.servers;
    const listed = await run(call, args, "", LIST_MS);
    if (listed.code !== 0) return { ok: false, error: whyFailed(client, listed, { text: "", problem: listed.said }) };
    call.servers = read(listed.out);
  }
  const ran = await run(call, client.args(call), promptOf(request.messages), limitMs);
  if (client.tidy) attempt(() => client.tidy?.(call), null);
  const heard = attempt(() => client.read(ran.out, ran.said), null);
  return answerOf(client, ran, heard ?? { text: "", problem: ran.said, usage: NO_USAGE });
}

/** The user's own, since the login may be in it. */
function childEnv(client: Client, call: ClientCall, folder: string): Env {
  // Reports of errors go to the folder for temporary files, and may quote the question. Some believe PWD before the system.
  const places = { TMPDIR: folder, TEMP: folder, TMP: folder, PWD: call.cwd, OLDPWD: undefined, INIT_CWD: undefined };
  return { ...call.env, ...client.env(call), ...places, [CHILD_VARIABLE]: "1" };
}

/** One text: clients take a prompt, not a conversation. */
function promptOf(messages: readonly Message[]): string {
  const texts = messages
    .map(({ role, content }) => ({ role, text: textOf(content) }))
    .filter(({ text }) => text !== "");
  if (texts.every(({ role }) => role === "user")) return texts.map(({ text }) => text).join("\n\n");
  return texts.map(({ role, text }) => `[${role === "user" ? "User" : "You"}]\n${text}`).join("\n\n");
}

type Ran = Awaited<ReturnType<typeof runProgram>>;

/** Never rejects. `said` is the end of standard error. */
async function runProgram(
  program: string,
  args: readonly string[],
  { limitMs, ...call }: Pick<ChildCall<never>, "cwd" | "env" | "input" | "signal"> & { limitMs: number },
) {
  const out: Buffer[] = [];
  let [bytes, said] = [0, ""];
  const { code, cut, problem } = await runChild<"limited" | "too much">(program, args, {
    ...{ ...call, timeoutMs: limitMs, graceMs: 0, drainMs: DRAIN_MS },
    onOut(chunk, stop) {
      out.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_OUT_BYTES) stop("too much");
    },
    onErr(chunk, stop) {
      said = (said + chunk.toString("utf8")).slice(-MAX_SAID_CHARS);
      if (said.split("\n").filter((line) => LIMITED.test(line)).length >= LIMITED_LINES) stop("limited");
    },
  });
  return { code, cut, out: Buffer.concat(out).toString("utf8"), said: said || problem, limitMs };
}

function answerOf(client: Client, ran: Ran, heard: Heard): AskAnswer {
  const { text, usage, stop = "end", problem } = heard;
  if (ran.cut === null && problem === undefined && text !== "") {
    return { ok: true, content: [{ type: "text", text }], stop, usage };
  }
  const partial = usedNothing(usage) ? {} : { partial: { text, usage } };
  return { ok: false, error: whyFailed(client, ran, heard), ...partial };
}

/** In the words of clients and providers. The first one counts: a limit is often told with a hint to log in to something bigger. */
const LIMITED =
  /\b429\b|rate.?limit|usage limit|hit your .{0,20}limit|limit reached|too many requests|quota|resource.?exhausted|out of credits/i;
const KINDS: readonly (readonly [AskError["kind"], RegExp])[] = [
  ["rate", LIMITED],
  [
    "auth",
    /\b40[13]\b|unauthori[sz]ed|not logged in|please .{0,10}log ?in|\/login|authenticat|api.?key|credentials|token (?:has )?expired/i,
  ],
  ["overloaded", /\b5\d\d\b|overloaded|unavailable/i],
];

/** The client has tried again by itself, so nothing is retriable. */
function whyFailed(client: Client, ran: Ran, heard: Pick<Heard, "text" | "problem" | "status" | "isMisfit">): AskError {
  const { title, login } = client;
  const no = { retriable: false };
  const say = (kind: AskError["kind"], what: string, more?: Partial<AskError>) => fault(kind, `${title} ${what}`, more);
  if (ran.cut === "stopped") return fault("aborted", `stopped before ${title} had answered`);
  if (heard.isMisfit) return say("bad-answer", "did not answer in the form it was asked for; name another model");
  const words = heard.problem || ran.said;
  const said = ran.cut === "limited" ? ran.said : `${heard.status ?? ""} ${words}`;
  const kind = KINDS.find(([, pattern]) => pattern.test(said))?.[0];
  const why = quoted(clean(words));
  if (kind === "rate")
    return say(kind, `has reached the limit of your account; it works again when that is reset${why}`, no);
  const seconds = Math.round(ran.limitMs / 1000);
  if (ran.cut === "timeout")
    return say("timeout", `did not answer within ${seconds} s; try again, or name a smaller model`, no);
  if (ran.cut === "not started") return say("bad-request", `could not be started${why}`);
  if (ran.cut === "too much") return say("bad-answer", "printed far more than an answer; name another model");
  if (kind === "auth") return say(kind, `is not logged in; ${login}${why}`);
  if (kind === "overloaded") return say(kind, `gets no answer from its server${why}; try again later`, no);
  const hand = `try it by hand: \`${client.program}\``;
  return say("bad-answer", `gave no answer (exit code ${ran.code ?? "none"})${why}; ${hand}`);
}
