/** Every verb and program by name, in groups, each loaded when it is called. */

import type { Fields, Verb } from "../verb.ts";

export const GROUPS = {
  everyday: "Memories",
  health: "Health",
  learning: "Learning and sessions",
  agents: "Agents and setup",
  team: "Team",
  plumbing: "Called by other programs",
} as const;

export interface Row {
  name: string;
  group: keyof typeof GROUPS;
  /** One line for the help. */
  summary: string;
  /** Other words that people type for it. */
  aliases?: readonly string[];
  /** What it was called: still answers, and says the new name. */
  formerly?: string;
  load(): Promise<Verb>;
}

// biome-ignore lint/suspicious/noExplicitAny: verbs of all inputs and results are in one table
type AnyVerb = Verb<any, any>;

function row(
  group: Row["group"],
  name: string,
  summary: string,
  load: () => Promise<AnyVerb>,
  more: Pick<Row, "aliases" | "formerly"> = {},
): Row {
  return { name, group, summary, load: load as () => Promise<Verb<Fields>>, ...more };
}

export const VERBS: readonly Row[] = [
  row(
    "everyday",
    "save",
    "Save a memory, from a sentence, a file or standard input",
    async () => (await import("./save.ts")).save,
    { aliases: ["remember", "add", "new"] },
  ),
  row("everyday", "list", "List memories of all scopes", async () => (await import("./list.ts")).list, {
    aliases: ["ls"],
  }),
  row("everyday", "show", "Show one memory", async () => (await import("./list.ts")).show, { aliases: ["cat"] }),
  row(
    "everyday",
    "search",
    "Find every memory that contains the words, best first",
    async () => (await import("./search.ts")).search,
    { aliases: ["find", "grep"] },
  ),
  row(
    "everyday",
    "recall",
    "Show what an agent would be shown for a prompt, and why",
    async () => (await import("./recall.ts")).recall,
  ),
  row("everyday", "edit", "Open a memory in your editor", async () => (await import("./save.ts")).edit),
  row("everyday", "forget", "Remove a memory; undo brings it back", async () => (await import("./forget.ts")).forget, {
    aliases: ["rm", "delete", "remove"],
  }),
  row("everyday", "rename", "Give a memory a new name", async () => (await import("./forget.ts")).rename, {
    aliases: ["mv"],
  }),
  row(
    "everyday",
    "undo",
    "Undo a change as a whole; without an ID the last one",
    async () => (await import("./history.ts")).undo,
  ),
  row(
    "everyday",
    "history",
    "List the changes made to memories, newest last",
    async () => (await import("./history.ts")).history,
  ),
  row("health", "check", "Check everything below in one report", async () => (await import("./check.ts")).check),
  row(
    "health",
    "doctor",
    "Check the installation and every wired agent",
    async () => (await import("./doctor.ts")).doctor,
  ),
  row(
    "health",
    "lint",
    "Check the form and wording of memories and the index",
    async () => (await import("./verify.ts")).lint,
  ),
  row(
    "health",
    "verify",
    "Check what memories claim against the code and git",
    async () => (await import("./verify.ts")).verify,
  ),
  row(
    "health",
    "health",
    "Score all memories together, and say what to do first",
    async () => (await import("./health.ts")).health,
    { formerly: "rot" },
  ),
  row(
    "health",
    "prune",
    "Forget old memories; never feedback or pinned ones",
    async () => (await import("./prune.ts")).prune,
  ),
  row(
    "health",
    "index",
    "Show what the model sees of MEMORY.md, or rebuild it",
    async () => (await import("./context.ts")).index,
  ),
  row("health", "why", "Show when a memory was shown to a model, and why", async () => (await import("./why.ts")).why),
  row(
    "agents",
    "init",
    "Connect the agents on this machine; shows every change first",
    async () => (await import("./init.ts")).init,
  ),
  row("agents", "uninstall", "Disconnect the agents; memories stay", async () => (await import("./init.ts")).uninstall),
  row("agents", "import", "Import memories from other programs", async () => (await import("./exchange.ts")).importAll),
  row(
    "agents",
    "export",
    "Export memories as Markdown, JSON or a section of AGENTS.md",
    async () => (await import("./exchange.ts")).exportAll,
  ),
  row(
    "agents",
    "context",
    "Show what a host loads at start, and what it leaves out",
    async () => (await import("./context.ts")).context,
  ),
  row(
    "agents",
    "prompt",
    "Show the text about memory that goes to the model",
    async () => (await import("./context.ts")).prompt,
  ),
  row(
    "agents",
    "adopt",
    "Take over the memories of a moved or renamed project",
    async () => (await import("./adopt.ts")).adopt,
  ),
  row(
    "agents",
    "trust",
    "Let this repository's settings use a directory outside it",
    async () => (await import("./adopt.ts")).trust,
  ),
  row("team", "promote", "Move a private memory to the team's", async () => (await import("./promote.ts")).promote),
  row("team", "demote", "Move a memory out of the team's", async () => (await import("./promote.ts")).demote),
  row(
    "team",
    "sync",
    "Exchange memories with a team server, or through git",
    async () => (await import("./sync.ts")).sync,
  ),
  row(
    "team",
    "join",
    "Share this project's memories through a team server",
    async () => (await import("./sync.ts")).join,
  ),
  row(
    "team",
    "team",
    "Show who shares memories here; manage people and tokens",
    async () => (await import("./team.ts")).team,
  ),
];
