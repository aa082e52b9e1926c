/** Permission for what a tool is about to do: asked once per kind, one question at a time. */

import { attempt, messageOf } from "../errors.ts";
import { openTurns, unlessAborted } from "../model/tool.ts";

/** What a tool asks permission for. */
export interface PermissionRequest {
  /** What an answer applies to: "edit", "read outside", "bash git status", or "bash: " and a whole command. */
  kind: string;
  /** The name of the tool. */
  tool: string;
  /** One line for a person: what exactly will be done. */
  summary: string;
  /** A diff or a command. */
  detail?: string;
}

/** Must not throw. */
export type Permit = (request: PermissionRequest, signal: AbortSignal) => Promise<Permission>;
type Permission = { allowed: true } | { allowed: false; reason: string };

export interface PermissionOptions {
  /** Null when there is no one to ask. */
  ask: ((request: PermissionRequest, signal: AbortSignal) => Promise<"allow" | "deny" | "always">) | null;
  /** "edit", "read", "bash", "bash git", "bash git status", "all", or a remembered kind. */
  allowed: readonly string[];
  /** Remembers a kind that was always allowed. */
  remember?: (kind: string) => void;
}

/** Answers requests for permission: from what is allowed already, else by asking. */
export function openPermissions({ ask, allowed, remember }: PermissionOptions) {
  const granted = new Set(allowed.map((entry) => (entry.startsWith(WHOLE) ? entry : entry.trim().replace(/ +/g, " "))));
  const denied = new Set<string>();
  /** One question is open at a time. */
  const inTurn = openTurns();

  const known = (kind: string): Permission | null => {
    if ([...granted].some((entry) => covers(entry, kind))) return { allowed: true };
    return denied.has(kind) ? refused(kind) : null;
  };

  const question = async (request: PermissionRequest, signal: AbortSignal): Promise<Permission> => {
    const { kind } = request;
    // While this waited, the kind may have been answered, or the turn stopped.
    const answered = known(kind);
    if (answered) return answered;
    if (signal.aborted || !ask) return STOPPED;
    let answer: "allow" | "deny" | "always" | "stopped";
    try {
      answer = await unlessAborted(ask(request, signal), signal, "stopped");
    } catch (error) {
      return { allowed: false, reason: `the user could not be asked (${messageOf(error)})` };
    }
    if (answer === "stopped") return STOPPED;
    if (answer === "deny") denied.add(kind);
    else granted.add(kind);
    // If it cannot be remembered, it still holds for this session.
    if (answer === "always") attempt(() => remember?.(kind), null);
    return known(kind) ?? { allowed: true };
  };

  return {
    permit: async (request: PermissionRequest, signal: AbortSignal): Promise<Permission> => {
      const answered = known(request.kind);
      if (answered) return answered;
      if (!ask) return { allowed: false, reason: nobody(request.kind) };
      return unlessAborted(
        inTurn(() => question(request, signal)),
        signal,
        STOPPED,
      );
    },
    /** A new prompt: what was denied may be asked again. */
    newPrompt: () => denied.clear(),
  };
}

/** Whether allowing `entry` includes the kind. A whole command is only allowed as such, or together with all commands. */
export function covers(entry: string, kind: string): boolean {
  if (entry === "all" || entry === kind) return true;
  if (kind === "read outside") return entry === "read";
  if (kind.startsWith(WHOLE)) return entry === "bash";
  return (entry === "bash" || (entry.startsWith("bash ") && !entry.startsWith(WHOLE))) && kind.startsWith(`${entry} `);
}

/** Precedes a command that is allowed by its full text only. No program's kind starts like this. */
export const WHOLE = "bash: ";

const STOPPED: Permission = { allowed: false, reason: "stopped by the user before it was answered" };

function refused(kind: string): Permission {
  const what = kind.startsWith(WHOLE) ? "this command" : `"${kind}"`;
  const reason = `the user did not allow ${what}; do not try it another way: go on without it, or say what you need it for`;
  return { allowed: false, reason };
}

function nobody(kind: string): string {
  const entry = kind === "read outside" ? "read" : kind.startsWith(WHOLE) ? "bash" : kind;
  const shown = entry.includes(" ") ? `"${entry}"` : entry;
  return `it needs permission and there is no one to ask; the user can give it with --allow ${shown}. Go on without it`;
}
