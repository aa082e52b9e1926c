/** One thing that `memdir doctor` looks at, with its remedy. */

export interface Check {
  name: string;
  ok: boolean;
  /** What was found. */
  detail: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
  /**
   * Does it, where that cannot lose anything: what was done, in words. Several checks may share one. May throw; what is
   * left is seen when everything is looked at again.
   */
  mend?: Mend;
}

export type Mend = () => string | Promise<string>;

export function check(name: string, ok: boolean, detail: string, fix: string | null, mend?: Mend): Check {
  return { name, ok, detail, fix: ok ? null : fix, ...(ok || !mend ? {} : { mend }) };
}

export const MEND_COMMAND = "memdir doctor --fix";

/** Some of them, and how many more. */
export function names(all: readonly string[]): string {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}
