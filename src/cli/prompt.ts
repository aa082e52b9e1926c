/** `memdir prompt`. */

import { MemdirError } from "../errors.ts";
import { SECTION_NAMES, type SectionName } from "../prompts/memory.ts";
import type { Run } from "./command.ts";

export const run: Run = async (call) => {
  const section = call.value("section");
  if (section !== undefined && !SECTION_NAMES.includes(section as SectionName)) {
    throw new MemdirError("usage", `--section "${section}" is none of ${SECTION_NAMES.join(", ")}`);
  }
  const memdir = await call.open();
  const text = await memdir.prompt({
    makeDirectory: false,
    ...(section === undefined ? {} : { section: section as SectionName }),
    ...(call.flag("files") ? { files: true } : {}),
  });
  if (call.json) call.terminal.json({ text });
  else call.terminal.print(text);
  return 0;
};
