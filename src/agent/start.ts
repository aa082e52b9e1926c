/** A session begins: everything that a conversation hangs on, new or from a transcript. */

import { join } from "node:path";
import { openAttachments } from "../context/attachments.ts";
import { openSystemPrompt } from "../context/system-prompt.ts";
import { NO_USAGE } from "../model/ask.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";
import { openRecallSession } from "../recall/budget.ts";
import { openFileHistory } from "../session/file-history.ts";
import { openFileState } from "../session/file-state.ts";
import { type ResumedSession, SHOWN_LINE } from "../session/session-reader.ts";
import { openTranscript } from "../session/transcript.ts";
import { openTools } from "../tools/tools.ts";
import { dropOpening } from "./opening.ts";
import { openAgentPrompt } from "./sections.ts";
import { type AgentState, NOTHING_SHOWN, restoreShown, type Shown } from "./state.ts";
import { openTaskTool } from "./task.ts";
import { openWorkbench } from "./workbench.ts";
import type { AgentWorld } from "./world.ts";

export async function openState(world: AgentWorld, from: ResumedSession | null = null): Promise<AgentState> {
  const { memdir } = world;
  const { cwd } = memdir.location.project;
  const place = {
    dir: sessionsFolder(memdir.config, memdir.location.project),
    cwd,
    version: world.version,
    model: () => world.model.name,
    gitBranch: () => state.branch,
  };
  const transcript = openTranscript(place, world, from ?? undefined);
  const state: AgentState = {
    world,
    transcript,
    history: openFileHistory(
      { dir: join(memdir.config.claudeDir, "file-history", transcript.id), cwd },
      { now: world.now, log: world.log, note: (line) => transcript.note(line) },
      from?.notes ?? [],
    ),
    files: openFileState(),
    instructions: await memdir.instructions({ addDirs: [...world.addedDirs] }),
    touching: Promise.resolve(),
    attachments: openAttachments(),
    recalled: openRecallSession(),
    system: openSystemPrompt([]),
    tools: [],
    messages: dropOpening(from?.messages ?? []),
    sent: 0,
    prompts: [],
    usage: { ...NO_USAGE, requests: 0 },
    contextTokens: 0,
    failures: 0,
    memoryOn: memdir.config.disabled === null,
    learner: null,
    memoryWritten: false,
    branch: null,
    tell: () => {},
  };
  const shown = readShown(from?.notes ?? []);
  state.prompts = (from?.prompts ?? []).map(({ uuid, ...prompt }, i, all) => {
    return { ...prompt, id: uuid, before: shown.get(all[i - 1]?.uuid ?? "") ?? NOTHING_SHOWN };
  });
  restoreShown(state, shown.get(state.prompts.at(-1)?.id ?? "") ?? NOTHING_SHOWN);
  state.learner =
    world.openLearner?.({
      session: transcript.id,
      sessionsDir: place.dir,
      model: () => world.model,
      tell: (learnt) => state.tell({ type: "learnt", ...learnt }),
    }) ?? null;
  state.system = openAgentPrompt(state);
  state.tools = [...openTools(openWorkbench(state, state.files)), openTaskTool(state)];
  return state;
}

/** What each prompt's turn had shown when it ended. The file may be anybody's: what does not fit is passed over. */
function readShown(notes: readonly Readonly<Record<string, unknown>>[]): Map<string, Shown> {
  const shown = new Map<string, Shown>();
  for (const { type, prompt, shown: value } of notes) {
    if (type !== SHOWN_LINE || typeof prompt !== "string" || typeof value !== "object" || value === null) continue;
    const { sent, recalled, bytes } = value as Partial<Shown>;
    if (!Array.isArray(sent) || !Array.isArray(recalled) || typeof bytes !== "number") continue;
    shown.set(prompt, { sent, recalled: recalled.filter((path) => typeof path === "string"), bytes });
  }
  return shown;
}
