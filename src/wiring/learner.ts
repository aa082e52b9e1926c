/** Which client on this machine could be the model of background learning, and what the user is asked about it, once. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../child-group.ts";
import { type Config, openJson } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { chooseModel } from "../model/choose.ts";
import { type Client, type ClientName, MODEL_CLIENTS } from "../model/clients.ts";
import { setUserEntry } from "../project/owner.ts";
import { claudeFolder, claudeState, codexFolder, geminiFolder } from "./clients.ts";
import type { Machine } from "./machine.ts";

/** What its login leaves on the disk: a process would take seconds, and might take the question for a prompt. */
const LOGINS: Readonly<Partial<Record<ClientName, (machine: Machine) => boolean>>> = {
  "claude-code": (machine) => {
    const account = openJson(claudeState(machine), []).values.oauthAccount;
    const isKnown = Boolean(machine.env.CLAUDE_CODE_OAUTH_TOKEN || account);
    return isKnown || existsSync(join(claudeFolder(machine), ".credentials.json"));
  },
  codex: (machine) => existsSync(join(codexFolder(machine), "auth.json")),
  "gemini-cli": (machine) => existsSync(join(geminiFolder(machine), "oauth_creds.json")),
};

/** The first that is logged in. Not OpenCode, which has no model of its own. */
export function findLearner(machine: Machine): Client | null {
  const isHere = ({ program }: Client) => findProgram(machine.env, program, { cwd: machine.cwd }) !== null;
  return Object.values(MODEL_CLIENTS).find((each) => isHere(each) && LOGINS[each.name]?.(machine)) ?? null;
}

/** Whether the user's file says what learning asks, or that it asks nothing; or the environment says it. */
export function isDecided({ userFile, learn }: Config): boolean {
  const own = openJson(userFile, []).values.learn as { model?: unknown } | undefined;
  return learn.model !== null || own?.model !== undefined;
}

/** About what `learn.tokensPerDay` is divided by; a short turn takes less, a long one is read in parts. */
const TOKENS_PER_TURN = 10_000;

/** One sentence, with what it costs. */
export function questionFor({ title, model }: Client, { learn }: Config): string {
  const which = model ? `${title} (${model})` : title;
  return `May background learning use ${which}? Each turn it learns from takes about ${grouped(TOKENS_PER_TURN)} tokens of your account, a day at most ${grouped(learn.tokensPerDay)}`;
}

function grouped(amount: number): string {
  return amount.toLocaleString("en-US");
}

/** Throws `usage` for what is no model. */
export function checkLearner(name: string, { env }: Pick<Machine, "env">): void {
  if (name.trim().toLowerCase() === "off") return;
  const choice = chooseModel({ ...env, MEMDIR_MODEL: "" }, name);
  if (choice && "problem" in choice) throw new MemdirError("usage", choice.problem);
}

/** `off`: the user was asked, and wants none. */
export function setLearner(config: Config, name: string): void {
  setUserEntry(config, "learn", "model", name);
}
