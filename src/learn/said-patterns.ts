/** How people correct, prefer, decide and point, as one table; requests in so many words are in said-explicit.ts. */

import { CORRECTIONS } from "./said-corrections.ts";
import { DECISIONS } from "./said-decisions.ts";
import { POINTERS } from "./said-pointers.ts";
import { PREFERENCES } from "./said-preferences.ts";
import type { Row } from "./said-row.ts";

/**
 * The first row that matches counts, so what says more comes first: where something is kept before when it moved there.
 * All are matched against one sentence without its lead ("no, ", "please "), of limited length, ignoring case.
 */
export const ROWS: readonly Row[] = [...CORRECTIONS, ...PREFERENCES, ...POINTERS, ...DECISIONS];
