/** Editing a memory's file: checked while one types, looked at as a difference before it is saved, never over what somebody else wrote. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { CheckAnswer, MemoryView, Ref, SavedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive } from "../live.ts";
import { Button } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { Waiting } from "../parts/empty.tsx";
import { Notice, tell, tellFailure } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useStart } from "../parts/start.ts";
import { tellChanged } from "../parts/undo.ts";
import { send } from "../remote.ts";
import { goBack, replace } from "../router.ts";
import { type Draft, dropDraft, findDraft, keepDraft, toField, toFile } from "./draft.ts";
import { useCheck } from "./edit-check.ts";
import { Conflict } from "./edit-conflict.tsx";
import { Findings, Head, TextField } from "./edit-parts.tsx";
import { useGuard } from "./leave.ts";
import { layOver } from "./merge.ts";

export function View({ params }: { params: URLSearchParams }): VNode {
  const ref = { directory: Number(params.get("directory") ?? 0), file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", { ...ref });
  const { readOnly, version } = useStart();
  // Somebody may forget the memory meanwhile: what was typed must not go with it.
  const last = useRef(live.value);
  last.current = live.value ?? last.current;
  const memory = last.current;
  const isGone = live.value === null && live.failure?.status === 404;
  const draft = isGone && memory === null ? findDraft(sessionStorage, ref) : null;
  if (draft !== null) return <Editor reference={ref} name={ref.file} text={draft.base} isGone />;
  if (memory === null)
    return (
      <>
        <PageHead title={`Edit ${ref.file}`} />
        <Waiting live={live} />
      </>
    );
  if (memory.row.isReadOnly || (readOnly && version !== ""))
    return (
      <>
        <PageHead title={memory.row.name} />
        <Notice>This memory can only be looked at here.</Notice>
      </>
    );
  return (
    <Editor
      key={`${ref.directory}/${ref.file}`}
      reference={ref}
      name={memory.row.name}
      text={memory.text}
      isGone={isGone}
    />
  );
}

interface EditorProps {
  reference: Ref;
  name: string;
  /** As it is on disk now. */
  text: string;
  isGone: boolean;
}

function Editor({ reference, name, text, isGone }: EditorProps): VNode {
  const [found] = useState(() => findDraft(sessionStorage, reference));
  const [draft, setDraft] = useState<Draft>(found ?? { base: text, text: toField(text) });
  const [isRestored, setRestored] = useState(found !== null);
  const [isReviewing, setReviewing] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const [check, isChecked, setCheck] = useCheck(reference, draft);
  const isDirty = draft.text !== toField(draft.base);
  const leave = useGuard(isDirty);
  useEffect(() => keepDraft(sessionStorage, reference, draft), [draft]);
  useEffect(() => {
    // Nothing was typed: what somebody else wrote is simply shown.
    if (!isDirty && text !== draft.base) setDraft({ base: text, text: toField(text) });
  }, [text]);

  const save = async () => {
    setSaving(true);
    const body = { ...reference, base: draft.base, text: toFile(draft) };
    const { value, failure } = await send<SavedAnswer>("PUT", "/api/memory", body);
    setSaving(false);
    if (value !== null) {
      dropDraft(sessionStorage, reference);
      leave();
      replace("memory", { directory: value.directory, file: value.file });
      return tellChanged([`Saved ${name}`, ...value.notices].join("; "), value.entry);
    }
    const told = failure.body as CheckAnswer | null;
    if (failure.status === 409 && told?.conflict) {
      setCheck(told);
      setReviewing(false);
    } else tellFailure(failure);
  };
  const close = () => goBack("memory", { ...reference });
  const discard = async () => {
    const given = await ask({ title: "Throw away what you wrote?", yes: "Throw away", isDanger: true });
    if (given === null) return;
    setRestored(false);
    setReviewing(false);
    setDraft({ base: text, text: toField(text) });
  };
  const keep = (theirs: string) => {
    const { text: layered, overlaps } = layOver(toField(draft.base), toField(theirs), draft.text);
    setDraft({ base: theirs, text: layered });
    setReviewing(true);
    if (overlaps > 0)
      tell("Where both changed the same lines, yours stand. Look at what goes before you save.", "warn");
  };
  const mayReview = isDirty && (check?.conflict ?? null) === null;
  const maySave = mayReview && isChecked && check?.secrets.length === 0;
  useSaveKey(() => {
    if (isReviewing && maySave) void save();
    else if (mayReview) setReviewing(true);
  });
  useKeys({ Escape: () => (isReviewing ? setReviewing(false) : close()) });
  return (
    <>
      <Head
        title={`Edit ${name}`}
        file={reference.file}
        isReviewing={isReviewing}
        isSaving={isSaving}
        mayReview={mayReview}
        maySave={maySave}
        onClose={close}
        onDiscard={isDirty ? () => void discard() : null}
        onReview={setReviewing}
        onSave={() => void save()}
      />
      {isRestored ? <Notice tone="accent">What you wrote here before is back; it is not saved yet.</Notice> : null}
      {isGone ? (
        <Notice tone="warn">
          <p role="alert">The memory was forgotten or renamed meanwhile. What you wrote is still here.</p>
          <Button onClick={() => void copy(draft.text)}>Copy mine</Button>
        </Notice>
      ) : null}
      {check?.conflict && !isGone ? (
        <Conflict
          check={check}
          onTake={(theirs) => {
            setDraft({ base: theirs, text: toField(theirs) });
            setReviewing(false);
          }}
          onKeep={keep}
          onCopy={() => void copy(draft.text)}
        />
      ) : null}
      {isReviewing ? (
        <section class="section">
          <h2>What saving will change</h2>
          {check !== null && isChecked ? (
            <Diff lines={check.diff} label="What saving will change" />
          ) : (
            <p class="waiting">Looking…</p>
          )}
        </section>
      ) : (
        <TextField text={draft.text} onInput={(typed) => setDraft({ base: draft.base, text: typed })} />
      )}
      <Findings check={check} />
    </>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied", "good");
  } catch {
    tell("The browser does not let this page copy: select the text and copy it yourself.", "bad");
  }
}

/** Ctrl-S, also while typing. */
function useSaveKey(go: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      go();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
