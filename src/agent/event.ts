/** What an agent tells while it works: for a console to show, for a program to log. */

import type { Learnt } from "../learn/session-learner.ts";
import type { LoopEvent } from "../model/agent-loop.ts";
import type { Recalled } from "../recall/recall.ts";

export type AgentEvent =
  | LoopEvent
  /** Memories that the model is shown now. */
  | { type: "recalled"; memories: readonly Recalled[] }
  /** Instruction files that came with a touched folder. */
  | { type: "instructions"; paths: readonly string[] }
  /** A memory was written by a tool. */
  | { type: "saved"; file: string; action: string; notices: readonly string[] }
  /** What was learnt from a turn that has ended, perhaps while the next one is being typed. */
  | ({ type: "learnt" } & Learnt)
  | { type: "compacting"; trigger: "manual" | "auto" }
  | { type: "compacted"; trigger: "manual" | "auto"; from: "notes" | "model"; before: number; after: number }
  | { type: "sub-agent"; name: string; id: string; event: LoopEvent | { type: "end"; turns: number } }
  /** Nothing stops, and somebody should know. */
  | { type: "problem"; message: string };

export type Tell = (event: AgentEvent) => void;

/** A listener that throws must end neither a turn nor a tool, and what waits for touched files must not fail for ever. */
export function quietly(tell: Tell = () => {}): Tell {
  return (event) => {
    try {
      tell(event);
    } catch {
      // The listener's own fault, and it has nobody here to tell.
    }
  };
}
