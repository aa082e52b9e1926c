/** Loaded before a program (`--import`): for it, everything below CASELESS_ROOT is on a disk that ignores case. */

import { ignoreCase } from "./case-disk.ts";

if (process.env.CASELESS_ROOT) ignoreCase(process.env.CASELESS_ROOT);
