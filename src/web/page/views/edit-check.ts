/** What a save would say of a draft, asked while one types. */
import { useEffect, useState } from "preact/hooks";
import type { CheckAnswer, Ref } from "../../api.ts";
import { changes } from "../live.ts";
import { send } from "../remote.ts";
import { useStore } from "../store.ts";
import { type Draft, toFile } from "./draft.ts";

/** After the last key: a check reads files and looks for secrets. */
const PAUSE_MS = 250;

/** A moment after the last key and after every change on disk: what was found, whether in this very text, and a way to put in what a save was told. */
export function useCheck(ref: Ref, draft: Draft): [CheckAnswer | null, boolean, (check: CheckAnswer) => void] {
  const version = useStore(changes);
  const [checked, setChecked] = useState<{ of: Draft; check: CheckAnswer } | null>(null);
  useEffect(() => {
    const calling = new AbortController();
    const waiting = setTimeout(async () => {
      const body = { ...ref, base: draft.base, text: toFile(draft) };
      const { value } = await send<CheckAnswer>("POST", "/api/check", body, calling.signal);
      if (value !== null && !calling.signal.aborted) setChecked({ of: draft, check: value });
    }, PAUSE_MS);
    return () => {
      clearTimeout(waiting);
      calling.abort();
    };
  }, [draft, version]);
  // What was found in an earlier text still stands while a later one is looked at; the difference is only of its own text.
  const check = checked?.of.base === draft.base ? checked.check : null;
  return [check, checked?.of === draft, (told) => setChecked({ of: draft, check: told })];
}
