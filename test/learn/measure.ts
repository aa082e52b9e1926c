/** Measures what is understood against labels: how much of what was saved is right, and how much of what should be was saved. */

import { readFileSync } from "node:fs";
import { extractByRules, type SpokenMessage } from "../../src/learn/rules.ts";
import { type Said, understandSaid } from "../../src/learn/said.ts";

/** What a memory says, by whichever way it was understood. */
export interface Told {
  act: string;
  type: string;
  name: string;
  description: string;
  body: string;
}

export interface Figures {
  precision: number;
  recall: number;
  /** What was saved and should not be, or not so. */
  wrong: string[];
  missed: string[];
  said: { id: string; said: Told; forbid: readonly string[] }[];
}

interface Case {
  id: string;
  today: string;
  messages: { role: string; text: string }[];
  expect: { type: string; altTypes?: string[]; mustMention: string[]; absoluteDates: string[] }[];
  forbid: string[];
}

interface Labelled {
  id: string;
  set: string;
  text: string;
  expect: { act: string; types: string[]; mention: string[]; dates?: string[]; explicit?: boolean }[];
  forbid?: string[];
}

/** The project's labelled conversations; the rules were tuned on them. */
export const DEV = new URL("../fixtures/extraction-dev.json", import.meta.url);
/** Our own, written before the rules were looked at; the rules were then mended on them. */
export const OWN = ["own", "second", "third", "fourth"].map(
  (name) => new URL(`./data/extraction-${name}.json`, import.meta.url),
);
/** Our own, written by somebody who had not seen the rules (seventh: who had, and meant to fool them); the rules became more careful on them. */
export const LATER = ["fifth", "sixth", "seventh"].map(
  (name) => new URL(`./data/extraction-${name}.json`, import.meta.url),
);
/** Our own, measured once and not mended on: what the rules do on text that they were not made for. */
export const BLIND = ["blind", "eighth"].map((name) => new URL(`./data/extraction-${name}.json`, import.meta.url));
/** One message a line of the work at hand, with nothing to keep. */
export const EVERYDAY = new URL("./data/everyday-talk.txt", import.meta.url);

const SENTENCES = new URL("../fixtures/said.json", import.meta.url);

/** Conversations: the user's messages, with what the agent said before each or without; "forget that" takes back the last. */
export async function measureConversations(set: URL, { answers }: { answers: boolean }): Promise<Figures> {
  const { cases } = readJson<{ cases: Case[] }>(set);
  return measure<Case["expect"][number], Told>(
    cases.map(({ id, expect, forbid, messages, today }) => ({
      id,
      forbid,
      expect,
      said: () => sayAll(messages, today, answers),
      fits: (said, wanted) =>
        [wanted.type, ...(wanted.altTypes ?? [])].includes(said.type) &&
        [...wanted.mustMention, ...wanted.absoluteDates].every((words) => said.body.includes(words)),
    })),
  );
}

export async function measureSentences(set: string): Promise<Figures> {
  const { today, sentences } = readJson<{ today: string; sentences: Labelled[] }>(SENTENCES);
  return measure<Labelled["expect"][number], Said>(
    sentences
      .filter((sentence) => sentence.set === set)
      .map(({ id, expect, forbid = [], text }) => ({
        id,
        forbid,
        expect,
        said: () => understandSaid(text, new Date(`${today}T12:00:00`)),
        fits: (said, wanted) =>
          wanted.act === said.act &&
          wanted.types.includes(said.type) &&
          (wanted.explicit ?? said.explicit) === said.explicit &&
          wanted.mention.every((words) => `${said.name} ${said.body}`.includes(words)) &&
          (wanted.dates ?? []).every((date) => said.body.includes(date)),
      })),
  );
}

/** Which of the lines are kept that should not be, each said after the same question and answer. */
export async function measureTalk(file: URL): Promise<{ kept: string[]; lines: number }> {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const kept: string[] = [];
  for (const text of lines) {
    const before = [
      { role: "user", text: "can you help me with the order page" },
      { role: "assistant", text: "I changed the list to a table and added a test." },
    ];
    if ((await sayAll([...before, { role: "user", text }], "2026-06-10", true)).length > 0) kept.push(text);
  }
  return { kept, lines: lines.length };
}

/** As the product does it. */
async function sayAll(messages: Case["messages"], today: string, answers: boolean): Promise<Told[]> {
  const spoken = messages.map(({ role, text }, i) => ({
    id: `m${i}`,
    role: role as SpokenMessage["role"],
    text,
    at: new Date(`${today}T12:00:00`).toISOString(),
  }));
  const heard = spoken.filter(({ role }) => answers || role !== "assistant");
  return (await extractByRules(heard, [])).map((proposal) => ({ ...proposal, act: proposal.action }));
}

interface Trial<Wanted, T extends Told> {
  id: string;
  forbid: readonly string[];
  expect: Wanted[];
  said: () => Promise<T[]>;
  fits: (said: T, wanted: Wanted) => boolean;
}

async function measure<Wanted, T extends Told>(trials: Trial<Wanted, T>[]): Promise<Figures> {
  const figures: Figures = { precision: 0, recall: 0, wrong: [], missed: [], said: [] };
  let expected = 0;
  for (const { id, expect, fits, forbid, said: say } of trials) {
    const all = await say();
    expected += expect.length;
    for (const said of all) {
      figures.said.push({ id, said, forbid });
      if (!expect.some((wanted) => fits(said, wanted))) figures.wrong.push(`${id}: ${said.body}`);
    }
    for (const wanted of expect) if (!all.some((said) => fits(said, wanted))) figures.missed.push(id);
  }
  figures.precision = 1 - figures.wrong.length / Math.max(1, figures.said.length);
  figures.recall = 1 - figures.missed.length / Math.max(1, expected);
  return figures;
}

function readJson<T>(file: URL): T {
  return JSON.parse(readFileSync(file, "utf8"));
}
