/** An extraction for tests: a memory directory on disk, the real Anthropic SDK, and a model server that says what it is told. */

import { onTestFinished } from "vitest";
import { type Extractor, type Learning, type LearnRequest, type LearnResult, learn } from "../../src/learn/learn.ts";
import type { Spent } from "../../src/learn/ledger.ts";
import { type LearningModel, openModelExtractor } from "../../src/learn/model-extractor.ts";
import type { Proposal } from "../../src/learn/proposal.ts";
import { openAnthropic } from "../../src/model/anthropic.ts";
import { openLearning } from "../../src/open-learn.ts";
import type { HeardMessage } from "../../src/session/heard.ts";
import { parseMemory } from "../../src/store/memory.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import type { Answer } from "../model-server/reply.ts";
import { makeWorld, type World } from "../world.ts";

export const SESSION = "0b5e7c1a-0000-4000-8000-000000000001";

export interface ExtractionDesk {
  disk: World;
  server: ModelServer;
  model: LearningModel;
  learning: Learning;
  extractor: Extractor;
  proposals: Proposal[];
  spent: Spent[];
  skips: string[];
  /** Texts of the results that the model was shown last. */
  results(): string[];
  /** The text of the first message of the first request. */
  prompt(): string;
}

/** `takesTools`: false for a model that answers in one shot. */
export async function openExtractionDesk({
  takesTools = true,
  ...more
}: Partial<Learning> & Pick<LearningModel, "takesTools"> = {}): Promise<ExtractionDesk> {
  const disk = makeWorld();
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const learning = openLearning(await disk.open());
  const ask = await openAnthropic({
    model: "claude-test",
    apiKey: "sk-test-key",
    baseUrl: server.url,
    maxSilenceMs: 5_000,
  });
  let ids = 0;
  const model: LearningModel = { ask, provider: "anthropic", name: "claude-test", maxTokens: 1_000, takesTools };
  const desk: ExtractionDesk = {
    disk,
    server,
    model,
    proposals: [],
    spent: [],
    skips: [],
    results: () => (server.requests.at(-1)?.body.messages.at(-1).content ?? []).map(contentOf),
    prompt: () => server.requests[0]?.body.messages.at(-1).content.map(contentOf).join("\n") ?? "",
    extractor: {
      isFree: false,
      extract: (turns, keep) =>
        extract(turns, (proposal, base) => {
          desk.proposals.push(proposal);
          return keep(proposal, base);
        }),
    },
    learning: {
      ...learning,
      directory: { ...learning.directory, log: (message) => void disk.logged.push(message) },
      ledger: {
        ...learning.ledger,
        spend: (entry) => void desk.spent.push({ at: "", skipped: null, ...entry }),
        skip: (_, __, reason) => void desk.skips.push(reason),
      },
      gates: () => ({ enabled: true, everyTurns: 1, budget: { ok: true } }),
      ...more,
    },
  };
  const { extract } = openModelExtractor(
    desk.learning,
    () => model,
    () => `p${++ids}`,
  );
  return desk;
}

export function extract(
  { learning, extractor }: Pick<ExtractionDesk, "learning" | "extractor">,
  request: LearnRequest,
): Promise<LearnResult> {
  return learn(learning, extractor, request);
}

function contentOf(block: { text?: string; content?: string | { text?: string }[] }): string {
  if (Array.isArray(block.content)) return block.content.map((part) => part.text ?? "").join("");
  return block.text ?? block.content ?? "";
}

export const AT = "2026-03-09T12:00:00.000Z"; // a Monday

export function user(id: string, text: string, at: string | null = AT): HeardMessage {
  return { id, at, message: { role: "user", content: [{ type: "text", text }] } };
}

export function assistant(id: string, text: string): HeardMessage {
  return { id, at: AT, message: { role: "assistant", content: [{ type: "text", text }] } };
}

/** A call of a tool and what it returned. */
export function used(id: string, name: string, result: string): HeardMessage[] {
  const call = { type: "tool_use" as const, id: `call-${id}`, name, input: { file_path: "README.md" } };
  return [
    { id: `${id}-call`, at: AT, message: { role: "assistant", content: [call] } },
    { id, at: AT, message: { role: "user", content: [{ type: "tool_result", id: call.id, content: result }] } },
  ];
}

export const TALK: HeardMessage[] = [
  user("u1", "Please never squash my commits, the reviewers read them one by one."),
  assistant("a1", "Understood, I will leave them as they are."),
];

/** Where the memory of `note()` is kept. */
export const FILE = "feedback_keep_commits_separate.md";

export interface NoteOptions {
  type?: string;
  name?: string;
  description?: string;
  source?: string | null;
  body?: string;
}

export function note(options: NoteOptions = {}): string {
  const {
    type = "feedback",
    name = "Keep commits separate",
    description = "Never squash a branch under review",
  } = options;
  const {
    source = "m1",
    body = "Never squash commits.\n\n**Why:** reviewers read them.\n**How to apply:** before a merge.",
  } = options;
  const cues = ["tidying up history", "too many small steps", "fold changes together"];
  const head = [
    `name: ${name}`,
    `description: ${description}`,
    `type: ${type}`,
    "when:",
    ...cues.map((cue) => `  - ${cue}`),
  ];
  return `---\n${[...head, ...(source === null ? [] : [`source: ${source}`])].join("\n")}\n---\n\n${body}\n`;
}

export const write = (file_path: string, content = note()): Answer => ({
  tools: [{ name: "Write", input: { file_path, content } }],
});

/** The answer of a model without tools: the memories of these files, as JSON. */
export function answer(...files: string[]): Answer {
  const memories = files.map((text) => {
    const { type, name, description, when, body, metadata } = parseMemory("x.md", text);
    const source = String(metadata.source ?? "").match(/m\d+/g) ?? [];
    return { file: null, type, name, description, when, source, body: body.trim() };
  });
  return { text: JSON.stringify({ memories }) };
}

export const NOTHING: Answer = { text: "NOTHING TO KEEP" };
export const DONE: Answer = { text: "Kept one memory." };
