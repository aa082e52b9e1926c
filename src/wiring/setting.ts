/** One value of a client's settings, for what the wiring only has to know. */

import { getNodeValue } from "jsonc-parser";
import { readUserFile } from "./user-file.ts";
import { walk } from "./value-part.ts";

/** Undefined when it is not there or cannot be read: whoever changes the file says why. */
export function readSetting(file: string, ...at: string[]): unknown {
  try {
    const { node, missing } = walk(readUserFile(file).text?.replace(/^\ufeff/, "") ?? "", at, file);
    return missing.length > 0 ? undefined : getNodeValue(node);
  } catch {
    return undefined;
  }
}
