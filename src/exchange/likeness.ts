/** What says the same among thousands of memories, by the terms that recall knows. */

import { type Likeness, openLikeness as openTextLikeness, type Said } from "../text/likeness.ts";
import { termsOf } from "../text/terms.ts";

export { plain, type Said } from "../text/likeness.ts";

export function openLikeness<T>(all: readonly Said[]): Likeness<T> {
  return openTextLikeness(all, termsOf);
}
