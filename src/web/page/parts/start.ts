/** What the page is told once at its start: project, directories, whether anything may be changed. */
import type { Start } from "../../api.ts";
import { makeStore, useStore } from "../store.ts";

/** Before the answer nothing may be changed. */
export const start = makeStore<Start>({
  version: "",
  project: "",
  readOnly: true,
  directories: [],
  warnings: [],
  hasModel: false,
});

export function useStart(): Start {
  return useStore(start);
}
