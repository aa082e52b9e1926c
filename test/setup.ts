/** In CI random tests repeat one fixed run, so that a landing does not depend on luck; everywhere else they look for news. */

import fc from "fast-check";

if (process.env.CI) fc.configureGlobal({ seed: 20_261_115 });
