/** Checks a text as a save would, while the person types. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CheckAnswer, Ref } from "../../api.ts";
import { changes } from "../live.ts";
import { send } from "../remote.ts";
import { useStore } from "../store.ts";
import { Lines } from "./notice.tsx";

/** A file's text, and its text when editing began. */
export interface Edited {
  base: string;
  text: string;
}

/** After the last key: a check reads files and searches for secrets. */
const PAUSE_MS = 250;

/** A moment after the last key and after every change on disk: what was found, whether in this very text, and a way to put in the answer to a save. */
export function useCheck(
  { directory, file }: Ref,
  edited: Edited | null,
): [CheckAnswer | null, boolean, (check: CheckAnswer) => void] {
  const version = useStore(changes);
  const [checked, setChecked] = useState<{ of: Edited; check: CheckAnswer } | null>(null);
  useEffect(() => {
    if (edited === null) return;
    const calling = new AbortController();
    const waiting = setTimeout(async () => {
      const body = { directory, file, ...edited };
      const { value } = await send<CheckAnswer>("POST", "/api/check", body, calling.signal);
      if (value !== null && !calling.signal.aborted) setChecked({ of: edited, check: value });
    }, PAUSE_MS);
    return () => {
      clearTimeout(waiting);
      calling.abort();
    };
  }, [edited, version]);
  // The result for an earlier text stays while a later one is checked; the diff belongs to its own text only.
  const check = edited !== null && checked?.of.base === edited.base ? checked.check : null;
  return [
    check,
    edited !== null && checked?.of === edited,
    (told) => {
      if (edited !== null) setChecked({ of: edited, check: told });
    },
  ];
}

export function Findings({ check }: { check: CheckAnswer | null }): VNode {
  const { secrets = [], problems = [] } = check ?? {};
  const lines = secrets.map(
    ({ rule, line }) => `Line ${line} looks like a secret (${rule}). Remove it before you save.`,
  );
  return (
    <div class="findings" role="status" aria-live="polite">
      <Lines lines={[...lines, ...problems]} tone={secrets.length > 0 ? "bad" : "warn"} />
    </div>
  );
}
