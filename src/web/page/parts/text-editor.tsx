/** A large text to be edited, and checked as a save would while the person types. */
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CheckAnswer, MemoryList, Ref } from "../../api.ts";
import { useLive } from "../live.ts";
import { get } from "../remote.ts";
import type { Draft } from "../views/draft.ts";
import { type Editor, type Finding, openEditor } from "../views/editor.ts";
import { useLater } from "./hooks.ts";
import { Lines } from "./notice.tsx";

interface Props {
  label: string;
  value: string;
  /** Grows when `value` was not typed here: only then does it replace what the editor has. */
  revision: number;
  onInput: (text: string) => void;
  findings: readonly Finding[];
  /** Marks what differs from this text. */
  original: string | null;
}

export function TextEditor({ label, value, revision, onInput, findings, original }: Props): VNode {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ value, onInput });
  latest.current = { value, onInput };
  const [editor, setEditor] = useState<Editor | null>(null);
  // Before the next key can be pressed.
  useLayoutEffect(() => {
    if (host.current === null) return;
    const onChange = (text: string) => latest.current.onInput(text);
    const opened = openEditor(host.current, { label, findNames, text: latest.current.value, onChange });
    setEditor(opened);
    return opened.close;
  }, []);
  useEffect(() => editor?.setText(latest.current.value), [editor, revision]);
  useEffect(() => editor?.setFindings(findings), [editor, JSON.stringify(findings)]);
  useEffect(() => editor?.compareWith(original), [editor, original]);
  return <div class="editor" ref={host} />;
}

const MOST_NAMES = 20;

async function findNames(letters: string): Promise<string[]> {
  const { value } = await get<MemoryList>("/api/memories", { q: letters.trim(), quick: true, limit: MOST_NAMES });
  const names = (value?.rows ?? []).map(({ name }) => name);
  const wanted = letters.trim().toLowerCase();
  return [...new Set(names)].filter((name) => name.toLowerCase().includes(wanted)).slice(0, MOST_NAMES);
}

/** After the last key: a check reads files and searches for secrets. */
const PAUSE_MS = 250;

/** A moment after the last key and after every change on disk: what was found, whether in this very text, and what asks again. */
export function useCheck({ directory, file }: Ref, edited: Draft) {
  const [asked] = useLater(edited, PAUSE_MS);
  const body = { directory, file, ...asked };
  const live = useLive<CheckAnswer>("/api/check", body, { isPosted: true, isSteady: true });
  // What was found in an earlier text stays while a later one is checked; whoever took over the text on disk has no conflict with it.
  const isOver = live.value?.conflict?.text === edited.base;
  const check = live.value && { ...live.value, conflict: isOver ? null : live.value.conflict };
  return [check, asked === edited && !live.isLoading && live.failure === null, live.reload] as const;
}

export function Findings({ findings }: { findings: readonly Finding[] }): VNode {
  const tone = findings.some(({ isError }) => isError) ? "bad" : "warn";
  return (
    <div class="findings" role="status" aria-live="polite">
      <Lines lines={findings.map(({ message }) => message)} tone={tone} />
    </div>
  );
}
