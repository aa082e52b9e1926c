/** Before each test file: one fixed run of random tests in CI, so that a landing does not depend on luck; and the broom after it. */

import fc from "fast-check";
import { afterAll } from "vitest";
import { removeTemporary } from "./temporary.ts";

if (process.env.CI) fc.configureGlobal({ seed: 20_261_115 });
afterAll(removeTemporary);
