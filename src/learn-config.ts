/** Settings of learning: what may be written by itself, how often, and what it may cost. */

import { BOOLEAN, COUNT, type JsonFile, type Kind, OBJECT, oneOf, take } from "./settings.ts";

/** What may happen with what was learnt: nothing is learnt, nothing is written, a person decides, it is written. */
export const LEARN_MODES = ["off", "read-only", "inbox", "auto"] as const;
export type LearnMode = (typeof LEARN_MODES)[number];

/** Per million tokens, in the user's currency. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface LearnConfig {
  /** For the user's own scopes. */
  mode: LearnMode;
  /** For the team's: others read what is written there. */
  teamMode: LearnMode;
  /** Extraction after every so many turns. */
  everyTurns: number;
  /** Of background work; the user's own prompts are never counted and never refused. */
  tokensPerDay: number;
  tokensPerSession: number;
  /** Null: no limit in money. */
  costPerDay: number | null;
  /** By provider and model, `*` matches anything. */
  prices: Readonly<Record<string, Price>>;
  /** Whether a long session is accompanied by notes. */
  notes: boolean;
}

/** Modest: some twenty extractions of a working day, and a long session's share of them. */
export const LEARN_DEFAULTS: LearnConfig = {
  mode: "auto",
  teamMode: "inbox",
  everyTurns: 1,
  tokensPerDay: 200_000,
  tokensPerSession: 50_000,
  costPerDay: null,
  prices: {},
  notes: true,
};

/** `file` is the user's own: a repository neither spends the user's money nor decides what is remembered of them. */
export function readLearnConfig(file: JsonFile, env: Readonly<Record<string, string | undefined>>): LearnConfig {
  const values = take(file, "learn", OBJECT) ?? {};
  const own: JsonFile = { path: `${file.path}: learn`, values, problems: file.problems };
  const mode = take(own, "mode", oneOf(LEARN_MODES));
  return {
    mode: modeOf(env.MEMDIR_LEARN, file.problems) ?? mode ?? LEARN_DEFAULTS.mode,
    teamMode: take(own, "teamMode", oneOf(LEARN_MODES)) ?? LEARN_DEFAULTS.teamMode,
    everyTurns: take(own, "everyTurns", COUNT) ?? LEARN_DEFAULTS.everyTurns,
    tokensPerDay: take(own, "tokensPerDay", COUNT) ?? LEARN_DEFAULTS.tokensPerDay,
    tokensPerSession: take(own, "tokensPerSession", COUNT) ?? LEARN_DEFAULTS.tokensPerSession,
    costPerDay: take(own, "costPerDay", AMOUNT) ?? LEARN_DEFAULTS.costPerDay,
    prices: take(own, "prices", PRICES) ?? LEARN_DEFAULTS.prices,
    notes: take(own, "notes", BOOLEAN) ?? LEARN_DEFAULTS.notes,
  };
}

function modeOf(text: string | undefined, problems: string[]): LearnMode | undefined {
  const asked = text?.trim().toLowerCase();
  if (!asked) return undefined;
  const mode = LEARN_MODES.find((one) => one === asked) ?? (/^(0|false|no)$/.test(asked) ? "off" : undefined);
  if (!mode) problems.push(`MEMDIR_LEARN must be one of ${LEARN_MODES.join(", ")}; it is ignored`);
  return mode;
}

const AMOUNT: Kind<number> = {
  expected: "a number of at least zero",
  accept: (value) => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined),
};

const PRICES: Kind<Record<string, Price>> = {
  expected: 'an object such as { "anthropic/*": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }',
  accept: (value) => {
    const object = OBJECT.accept(value);
    const entries = Object.entries(object ?? {}).map(([name, price]) => [name, priceOf(price)] as const);
    return object && entries.every(([, price]) => price)
      ? (Object.fromEntries(entries) as Record<string, Price>)
      : undefined;
  },
};

/** What a provider does not name costs what input costs. */
function priceOf(value: unknown): Price | null {
  const { input, output, cacheRead = input, cacheWrite = input } = OBJECT.accept(value) ?? {};
  const price = { input, output, cacheRead, cacheWrite };
  return Object.values(price).every((part) => AMOUNT.accept(part) !== undefined) ? (price as Price) : null;
}
