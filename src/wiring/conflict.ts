/** What is said when a file is no longer what was looked at. */

import { MemdirError } from "../errors.ts";

export function conflict(file: string): MemdirError {
  return new MemdirError("conflict", `${file} was changed by another program meanwhile; run it again`);
}
