/**
 * How long a hook may take. It is looked at between steps: a call to the disk cannot be interrupted, and a thread that could end us
 * would take longer to start than most hooks run. Against a disk that hangs stands the host's own time limit.
 */

export interface Deadline {
  /** From the process's start, as the person who waits sees it. */
  set(ms: number): void;
  isOver(): boolean;
  /** The same, and it is counted: for work that is left out. */
  isMissed(): boolean;
  /** How often work was left out. */
  readonly missed: number;
}

/** `elapsedMs`: since this process began. Not from `performance`, which Node loads when it is first asked for. */
export function openDeadline(elapsedMs: () => number = () => process.uptime() * 1000): Deadline {
  let limitMs = Number.POSITIVE_INFINITY;
  let missed = 0;
  const isOver = () => elapsedMs() > limitMs;
  return {
    set: (ms) => {
      limitMs = ms;
    },
    isOver,
    isMissed: () => isOver() && ++missed > 0,
    get missed() {
      return missed;
    },
  };
}
