/** Writing: the editor for a memory's file, which checks while typing and never overwrites another change, and a new memory. */

import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ChangedAnswer, CheckAnswer, MemoryView, Ref, SavedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Button, Field, useForm } from "../parts/basics.tsx";
import { tellChanged, tellDone } from "../parts/change.ts";
import { Findings, useCheck } from "../parts/check.tsx";
import { ask, useGuard } from "../parts/dialog.tsx";
import { keyOf, linesOf } from "../parts/format.ts";
import { useBusy, useLast } from "../parts/hooks.ts";
import { Answered, Loading, PageHead, Section } from "../parts/layout.tsx";
import { Failed, Notice, tell, tellFailure } from "../parts/notice.tsx";
import { Diff } from "../parts/texts.tsx";
import { type Failure, send } from "../remote.ts";
import { goBack, replace } from "../router.ts";
import { type Draft, dropDraft, findDraft, keepDraft, layOver, toField, toFile } from "./draft.ts";

export function EditView({ params }: { params: URLSearchParams }): VNode {
  const ref = { directory: Number(params.get("directory") ?? 0), file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", { ...ref });
  const { readOnly, version } = useStart();
  // The memory may be forgotten in the meantime: the typed text must not be lost with it.
  const memory = useLast(live.value);
  const isGone = live.value === null && live.failure?.status === 404;
  const draft = isGone && memory === null ? findDraft(sessionStorage, ref) : null;
  if (draft !== null) return <Editor reference={ref} name={ref.file} text={draft.base} isGone />;
  if (memory === null)
    return (
      <>
        <PageHead title={`Edit ${ref.file}`} />
        <Answered live={live}>{() => null}</Answered>
      </>
    );
  const { text, row } = memory;
  if (row.isReadOnly || (readOnly && version !== ""))
    return (
      <>
        <PageHead title={row.name} />
        <Notice>This memory is read-only here.</Notice>
      </>
    );
  return <Editor key={keyOf(ref)} reference={ref} name={row.name} text={text} isGone={isGone} />;
}

interface EditorProps {
  reference: Ref;
  name: string;
  /** The current text on disk. */
  text: string;
  isGone: boolean;
}

function Editor({ reference, name, text, isGone }: EditorProps): VNode {
  const [found] = useState(() => findDraft(sessionStorage, reference));
  const [draft, setDraft] = useState<Draft>(found ?? { base: text, text: toField(text) });
  const [isRestored, setRestored] = useState(found !== null);
  const [isReviewing, setReviewing] = useState(false);
  const [isSaving, run] = useBusy();
  const edited = useMemo(() => ({ base: draft.base, text: toFile(draft) }), [draft]);
  const [check, isChecked, setCheck] = useCheck(reference, edited);
  const isDirty = draft.text !== toField(draft.base);
  const leave = useGuard(isDirty);
  useEffect(() => keepDraft(sessionStorage, reference, draft), [draft]);
  useEffect(() => {
    // Nothing was typed, so the new text is simply shown.
    if (!isDirty && text !== draft.base) startFrom(text);
  }, [text]);

  const startFrom = (theirs: string) => {
    setDraft({ base: theirs, text: toField(theirs) });
    setReviewing(false);
  };
  const save = async () => {
    const { value, failure } = await run(send<SavedAnswer>("PUT", "/api/memory", { ...reference, ...edited }));
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
    const given = await ask({ title: "Discard your changes?", yes: "Discard", isDanger: true });
    if (given === null) return;
    setRestored(false);
    startFrom(text);
  };
  const keep = (theirs: string) => {
    const { text: layered, overlaps } = layOver(toField(draft.base), toField(theirs), draft.text);
    setDraft({ base: theirs, text: layered });
    setReviewing(true);
    if (overlaps > 0)
      tell("Where both changed the same lines, yours are kept. Review what is replaced before you save.", "warn");
  };
  const mayReview = isDirty && (check?.conflict ?? null) === null;
  const maySave = mayReview && isChecked && check?.secrets.length === 0;
  useSaveKey(() => {
    if (isReviewing && maySave) void save();
    else if (mayReview) setReviewing(true);
  });
  useKeys({ Escape: () => (isReviewing ? setReviewing(false) : close()) });
  const copyButton = <Button text="Copy mine" onClick={() => copy(draft.text)} />;
  return (
    <>
      <PageHead title={`Edit ${name}`} lead={<code dir="auto">{reference.file}</code>}>
        <Button text="Close" kind="quiet" onClick={close} />
        {isDirty ? <Button text="Discard" onClick={discard} /> : null}
        {isReviewing ? (
          <>
            <Button text="Keep writing" onClick={() => setReviewing(false)} />
            <Button text="Save" kind="primary" isBusy={isSaving} disabled={!maySave} onClick={save} />
          </>
        ) : (
          <Button text="Review" kind="primary" disabled={!mayReview} onClick={() => setReviewing(true)} />
        )}
      </PageHead>
      {isRestored ? <Notice tone="accent">Your unsaved changes were restored. They are not saved yet.</Notice> : null}
      {isGone ? (
        <Notice tone="warn">
          <p role="alert">The memory was forgotten or renamed in the meantime. Your text is still here.</p>
          {copyButton}
        </Notice>
      ) : check?.conflict ? (
        <Conflict conflict={check.conflict} mine={check.diff}>
          <Button text="Take theirs" onClick={() => startFrom(check.conflict?.text ?? "")} />
          <Button text="Merge mine onto theirs" onClick={() => keep(check.conflict?.text ?? "")} />
          {copyButton}
        </Conflict>
      ) : null}
      {isReviewing ? (
        <Section title="What saving will change" label="">
          {check !== null && isChecked ? <Diff lines={check.diff} label="What saving will change" /> : <Loading />}
        </Section>
      ) : (
        <Field
          label="The whole file"
          class="editor"
          spellcheck={false}
          autocapitalize="off"
          rows={24}
          value={draft.text}
          onInput={(typed) => setDraft({ base: draft.base, text: typed })}
        />
      )}
      <Findings check={check} />
    </>
  );
}

interface ConflictProps {
  conflict: NonNullable<CheckAnswer["conflict"]>;
  mine: CheckAnswer["diff"];
  /** What can be done about it. */
  children: VNode[];
}

/** The file was changed elsewhere: shows that change next to mine. */
function Conflict({ conflict, mine, children }: ConflictProps): VNode {
  return (
    <section class="stack" aria-label="The file changed on disk">
      <Notice tone="warn">
        <p role="alert">
          <strong>The file changed on disk while you were editing.</strong> Nothing is overwritten until you decide.
        </p>
        <div class="row">{children}</div>
      </Notice>
      <div class="even">
        <Section title="Changed on disk" label="">
          {conflict.text === "" ? <p class="soft">The file was removed.</p> : null}
          <Diff lines={conflict.diff} label="Changed on disk" />
        </Section>
        <Section title="Changed by you" label="">
          <Diff lines={mine} label="Changed by you" />
        </Section>
      </div>
    </section>
  );
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied", "good");
  } catch {
    tell("The browser does not allow this page to copy. Select the text and copy it yourself.", "bad");
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

// --- A new memory, written by hand.

const TYPES: [type: string, says: string][] = [
  ["user", "who the person is and what they like"],
  ["feedback", "how to work: corrections and what went well"],
  ["project", "what is so in this project and cannot be read from its code"],
  ["reference", "where something is found outside the project"],
];

const CUES = "Situations in which it should come to mind, one per line.";

export function NewView(_: { params: URLSearchParams }): VNode {
  const { readOnly, version } = useStart();
  const { values, field } = useForm({ type: "feedback", name: "", description: "", cues: "", body: "" });
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSaving, run] = useBusy();
  const leave = useGuard(values.name + values.description + values.cues + values.body !== "");
  const close = () => goBack("memories");
  useKeys({ Escape: close });
  const save = async () => {
    const answer = await run(send<ChangedAnswer>("POST", "/api/new", { ...values, cues: linesOf(values.cues) }));
    if (answer.failure !== null) return setFailure(answer.failure);
    leave();
    if (answer.value.ref === null) replace("memories");
    else replace("memory", { ...answer.value.ref });
    tellDone(answer.value);
  };
  if (readOnly && version !== "")
    return (
      <>
        <PageHead title="New memory" />
        <Notice>This page is read-only. Start `memdir ui` without --read-only to write.</Notice>
      </>
    );
  return (
    <>
      <PageHead title="New memory">
        <Button text="Cancel" kind="quiet" onClick={close} />
        <Button text="Save" kind="primary" isBusy={isSaving} disabled={values.name.trim() === ""} onClick={save} />
      </PageHead>
      <Failed failure={failure} />
      <div class="form stack">
        <TypeField {...field("type")} />
        <Field label="Name" says="A short title." autocomplete="off" {...field("name")} />
        <Field
          label="Description"
          says="One line for the index: what it is about."
          autocomplete="off"
          {...field("description")}
        />
        <Field label="Text" says="Markdown. [[name]] links to another memory." rows={10} {...field("body")} />
        <Field label="Cues" says={CUES} rows={3} {...field("cues")} />
      </div>
    </>
  );
}

function TypeField({ value, onInput }: { value: string; onInput: (type: string) => void }): VNode {
  return (
    <fieldset class="field plain-set">
      <legend>Type</legend>
      {TYPES.map(([id, says]) => (
        <label key={id} class="row">
          <input type="radio" name="type" value={id} checked={id === value} onChange={() => onInput(id)} />
          <span class="grow">
            {id} <span class="soft">{says}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
