/** Every verb by name, in groups, each loaded when it is called. */

import { CONSOLE, CURATED, EVERYDAY, HEALTH, inGroup, LONG, NAMED, PAGE, type Row, SHELL } from "./rows.ts";

export { GROUPS, type Row } from "./rows.ts";

const health = inGroup("health");
const learning = inGroup("learning");
const agents = inGroup("agents");
const team = inGroup("team");

export const TABLE = [
  ...EVERYDAY,
  health("check", "Run doctor, lint, verify and health in one report", () => import("./doctor.ts"), PAGE, LONG),
  health("doctor", "Check the installation and every connected agent", () => import("./doctor.ts"), CURATED),
  ...HEALTH,
  learning("learn", "Learn from past sessions, one proposal at a time", () => import("./learn.ts")),
  learning("extract", "Learn from conversations, with a model or offline", () => import("./extract.ts")),
  learning("inbox", "Review proposed memories: accept, edit or reject them", () => import("./inbox.ts"), CONSOLE),
  learning("dream", "Tidy up memories with a plan: merge, rewrite, retire", () => import("./dream.ts"), CONSOLE, LONG),
  learning("enrich", "Add cues to memories that lack them, with a model", () => import("./dream.ts"), CURATED, NAMED),
  learning("log", "Add a line to the daily log, or show today's", () => import("./log.ts")),
  learning("ledger", "Show what background work cost, and what is left today", () => import("./ledger.ts"), CURATED),
  learning("sessions", "List or search past sessions, including Claude Code's", () => import("./sessions.ts")),
  learning("rewind", "List checkpoints of a session, or go back to one", () => import("./rewind.ts")),
  agents("init", "Connect the agents on this machine; shows every change first", () => import("./init.ts")),
  agents("uninstall", "Disconnect the agents; memories stay", () => import("./init.ts")),
  agents("import", "Import memories from other programs", () => import("./exchange.ts"), CURATED),
  agents(
    "export",
    "Export memories as Markdown, JSON or a section of AGENTS.md",
    () => import("./exchange.ts"),
    CURATED,
  ),
  agents("context", "Show what an agent loads at startup, and what it skips", () => import("./context.ts")),
  agents("prompt", "Show the text about memory that goes to the model", () => import("./context.ts")),
  agents("adopt", "Take over the memories of a moved or renamed project", () => import("./adopt.ts")),
  agents("trust", "Decide what this repository and your team may do here", () => import("./trust.ts")),
  team("promote", "Move a private memory to the team's", () => import("./promote.ts"), CURATED, NAMED),
  team("demote", "Move a team memory back to your own", () => import("./promote.ts"), SHELL, NAMED),
  team("sync", "Exchange memories with a team server, or through git", () => import("./sync.ts"), ["cli"]),
  team("join", "Share this project's memories through a team server", () => import("./sync.ts"), ["cli"]),
  team("team", "Show who shares memories here; manage people and tokens", () => import("./team.ts"), ["cli"]),
];

export const VERBS = TABLE as readonly Row[];
