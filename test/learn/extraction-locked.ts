/** A process that takes the lock of an extraction: says whether it has it, and keeps it until it is ended or hears a word. */

import { loadNative, type Native } from "../../src/disk/fence.ts";
import { takeExtractionLock } from "../../src/learn/extraction-gates.ts";
import { openStore, type Store } from "../../src/store/store.ts";

const [path = "", session = "", how = "native"] = process.argv.slice(2);
const native: Native | null = how === "native" ? loadNative() : null;
const directory = openStore({ path, readOnly: false, inRepository: false } as Store);
const release = takeExtractionLock(directory, session, native);
console.log(release ? "held" : "busy");
if (release) setInterval(() => {}, 1000);
