/**
 * The protocol between the page and its server: every answer as a type, most of them derived from what makes the answer.
 * The page knows nothing else about the program.
 */

import type { Memdir } from "../memdir.ts";
import type { findLastChange, viewSession, viewSessions, viewTimeline } from "./answer-activity.ts";
import type { check, save } from "./answer-change.ts";
import type { viewHealth, viewHome, viewWaiting } from "./answer-home.ts";
import type { viewMap } from "./answer-map.ts";
import type { forgetSeveral } from "./answer-memories.ts";
import type { readHistory, viewMemory } from "./answer-memory.ts";
import type { inspect, inspectRecall, instructionRow, viewContext } from "./answer-recall.ts";
import type { viewQueue } from "./answer-review.ts";
import type { listAgents, listProjects, viewSettings, viewTeam } from "./answer-settings.ts";
import type { viewStart, viewVerb } from "./routes.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever it is given
type Made<By extends (...given: any) => unknown> = Awaited<ReturnType<By>>;

export * from "./shapes.ts";

/** GET /api/start */
export type Start = Made<typeof viewStart>;

/** GET /api/verb?name= : what a verb asks for, as JSON Schema has it; POST /api/<verb> { …, say: true } gives { text }. */
export type VerbForm = Made<typeof viewVerb>;

/** GET /api/waiting : what waits for a person; asked after every change, so it must cost little. */
export type Waiting = Made<typeof viewWaiting>;

/** GET /api/home?since= */
export type Home = Made<typeof viewHome>;

/** GET /api/health : the last measurement; the stream tells when there is another. */
export type HealthView = Made<typeof viewHealth>;

/** POST /api/bulk { action: "forget", memories: [place, …] } : one change in each store. */
export type BulkAnswer = Made<typeof forgetSeveral>;

export type HistoryRow = Made<typeof readHistory>[number];

/** GET /api/memory?directory=&file= */
export type MemoryView = Made<typeof viewMemory>;

/** POST /api/check { directory, file, base, text } : as `save` would see it; nothing is written. */
export type CheckAnswer = Made<typeof check>;

/** PUT /api/memory { directory, file, base, text }; 409 with the same body as a check where the file has changed. */
export type SavedAnswer = Made<typeof save>;

/** POST /api/forget, /api/rename { to } on a memory's place. */
export type VerbAnswer = Made<Memdir["rename"]>;

/** GET /api/last : what `u` would undo; null if there is nothing. */
export type LastChange = NonNullable<Made<typeof findLastChange>>;

export type InspectedMemory = Made<typeof inspect>;

/** POST /api/inspect { prompt, adapter } */
export type InspectAnswer = Made<typeof inspectRecall>;

export type InstructionRow = Made<typeof instructionRow>;

/** GET /api/context?touch=PATH */
export type ContextAnswer = Made<typeof viewContext>;

/** GET /api/timeline?before=&limit= */
export type Timeline = Made<typeof viewTimeline>;

/** GET /api/map */
export type MemoryMap = Made<typeof viewMap>;

/** GET /api/review */
export type ReviewAnswer = Made<typeof viewQueue>;

/** GET /api/team */
export type TeamAnswer = Made<typeof viewTeam>;

/** GET /api/sessions?q= ; GET /api/session?id= */
export type SessionList = Made<typeof viewSessions>;
export type SessionView = Made<typeof viewSession>;
export type SessionRow = SessionView["row"];

/** GET /api/settings; POST { name, value } for one of `learn`, "" for the default; POST /api/agents { name } wires one. */
export type SettingsView = Made<typeof viewSettings>;
export type AgentRow = Made<typeof listAgents>[number];

/** GET /api/projects : those with memories; POST /api/project { root } shows another one. */
export type Project = Made<typeof listProjects>[number];
