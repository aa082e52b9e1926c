/** Writing: the editor for a memory's file, which checks while typing and never overwrites another change, and a new memory. */

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ChangedAnswer, CheckAnswer, InspectAnswer, MemoryView, Ref, SavedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Button, Field, LinkRow, useForm } from "../parts/basics.tsx";
import { tellChanged } from "../parts/change.ts";
import { useGuard } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { keyOf, linesOf } from "../parts/format.ts";
import { useBusy, useLater } from "../parts/hooks.ts";
import { Choices, Heading, Loading, Page, PageHead } from "../parts/layout.tsx";
import { copy, Failed, Notice, tell, tellFailure } from "../parts/notice.tsx";
import { Findings, TextEditor, useCheck } from "../parts/text-editor.tsx";
import { Markdown } from "../parts/texts.tsx";
import { type Failure, send } from "../remote.ts";
import { goBack, replace } from "../router.ts";
import { type Draft, dropDraft, findDraft, keepDraft, layOver, toField, toFile } from "./draft.ts";
import type { Finding } from "./editor.ts";

export function EditView({ params }: { params: URLSearchParams }): VNode {
  const ref = { directory: Number(params.get("directory") ?? 0), file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", { ...ref }, { isSteady: true });
  const { root } = useStart();
  const place = `${root} ${keyOf(ref)}`;
  // The memory may be forgotten in the meantime: the typed text must not be lost with it.
  const memory = live.value;
  const isGone = live.failure?.status === 404;
  const draft = isGone && memory === null ? findDraft(sessionStorage, place) : null;
  if (draft !== null) return <Editor place={place} reference={ref} name={ref.file} text={draft.base} isGone />;
  if (memory === null) return <Page title={`Edit ${ref.file}`} live={live} children={() => null} />;
  const { text, row } = memory;
  if (row.isReadOnly) return <ReadOnly title={row.name} says="This memory is read-only here." />;
  return <Editor key={place} place={place} reference={ref} name={row.name} text={text} isGone={isGone} />;
}

function ReadOnly({ title, says }: { title: string; says: string }): VNode {
  return (
    <>
      <PageHead title={title} />
      <Notice>{says}</Notice>
    </>
  );
}

interface EditorProps {
  /** What its draft is kept under. */
  place: string;
  reference: Ref;
  name: string;
  /** The current text on disk. */
  text: string;
  isGone: boolean;
}

function Editor({ place, reference, name, text, isGone }: EditorProps): VNode {
  const [found] = useState(() => findDraft(sessionStorage, place));
  const [draft, setDraft] = useState<Draft>(found ?? { base: text, text: toField(text) });
  const [revision, setRevision] = useState(0);
  /** Not by typing. */
  const put = (next: Draft) => {
    setDraft(next);
    setRevision((now) => now + 1);
  };
  const [isRestored, setRestored] = useState(found !== null);
  /** Mine, after it was put on top of another change: what differs from theirs is marked. */
  const [theirs, setTheirs] = useState<string | null>(null);
  const [isSaving, run] = useBusy();
  const edited = useMemo(() => ({ base: draft.base, text: toFile(draft) }), [draft]);
  const [check, isChecked, checkAgain] = useCheck(reference, edited);
  const isDirty = draft.text !== toField(draft.base);
  const leave = useGuard(isDirty);
  useEffect(() => keepDraft(sessionStorage, place, draft), [draft]);
  useEffect(() => {
    // Nothing was typed, so the new text is simply shown.
    if (!isDirty && text !== draft.base) startFrom(text);
  }, [text]);

  const startFrom = (fresh: string) => {
    put({ base: fresh, text: toField(fresh) });
    setTheirs(null);
  };
  const save = async () => {
    const { value, failure } = await run(send<SavedAnswer>("PUT", "/api/memory", { ...reference, ...edited }));
    if (value !== null) {
      dropDraft(sessionStorage, place);
      leave();
      replace("memory", { directory: value.directory, file: value.file });
      tellChanged([`Saved ${name}`, ...value.notices].join("; "), value.entry);
      return;
    }
    const refused = failure.body as CheckAnswer | null;
    if (failure.status === 409 && refused?.conflict) checkAgain();
    else tellFailure(failure);
  };
  const close = () => goBack("memory", { ...reference });
  const discard = () => {
    const before = draft;
    setRestored(false);
    startFrom(text);
    tell("Discarded your changes", "plain", { title: "Bring back", run: () => put(before) });
  };
  const merge = (fresh: string) => {
    const { text: layered, overlaps } = layOver(toField(draft.base), toField(fresh), draft.text);
    put({ base: fresh, text: layered });
    setTheirs(toField(fresh));
    if (overlaps > 0) tell("Where both changed the same lines, yours are kept. Each place has a button.", "warn");
  };
  const findings = findingsOf(check);
  const conflict = check?.conflict ?? null;
  const maySave = isDirty && conflict === null && isChecked && check?.secrets.length === 0;
  useKeys({ Escape: close, "Ctrl s": () => maySave && save() });
  const copyButton = <Button text="Copy mine" onClick={() => copy(draft.text, "Copied", () => tell(NO_COPY, "bad"))} />;
  return (
    <>
      <PageHead title={`Edit ${name}`} lead={<code dir="auto">{reference.file}</code>}>
        <Button text="Close" kind="quiet" onClick={close} />
        {isDirty ? <Button text="Discard" onClick={discard} /> : null}
        <Button
          text="Save"
          kind="primary"
          aria-keyshortcuts="Control+S"
          isBusy={isSaving}
          disabled={!maySave}
          onClick={save}
        />
      </PageHead>
      {isRestored ? <Notice tone="accent">Your unsaved changes were restored. They are not saved yet.</Notice> : null}
      {isGone ? (
        <Notice tone="warn">
          <p role="alert">The memory was forgotten or renamed in the meantime. Your text is still here.</p>
          {copyButton}
        </Notice>
      ) : conflict !== null ? (
        <section class="stack" aria-label="The file changed on disk">
          <Notice tone="warn">
            <p role="alert">
              <strong>The file changed on disk while you were editing.</strong> Nothing is overwritten until you decide.
            </p>
            <div class="row">
              <Button text="Merge mine onto theirs" kind="primary" onClick={() => merge(conflict.text)} />
              <Button text="Take theirs" onClick={() => startFrom(conflict.text)} />
              {copyButton}
            </div>
          </Notice>
          <Heading title="Changed on disk" />
          {conflict.text === "" ? <p class="soft">The file was removed.</p> : null}
          <Diff lines={conflict.diff} label="Changed on disk" />
        </section>
      ) : null}
      <div class="two">
        <div class="stack-s">
          <TextEditor
            label="The whole file"
            value={draft.text}
            revision={revision}
            onInput={(typed) => setDraft((now) => ({ base: now.base, text: typed }))}
            findings={findings}
            original={theirs}
          />
          <Findings findings={findings} />
        </div>
        <Beside check={check} isDirty={isDirty} isChecked={isChecked} />
      </div>
    </>
  );
}

/** What was found, by its line. */
function findingsOf(check: CheckAnswer | null): Finding[] {
  const { secrets = [], problems = [] } = check ?? {};
  return [
    ...secrets.map(({ rule, line }) => {
      return { line, message: `Line ${line} looks like a secret (${rule}). Remove it before you save.`, isError: true };
    }),
    ...problems.map((message) => {
      return { line: Number(/\bline (\d+)/i.exec(message)?.[1] ?? 1), message, isError: false };
    }),
  ];
}

const NO_COPY = "The browser does not allow this page to copy. Select the text and copy it yourself.";

const TABS = [{ value: "Preview" }, { value: "Changes" }] as const;

/** The text as it will look, or what saving changes. */
function Beside(props: { check: CheckAnswer | null; isDirty: boolean; isChecked: boolean }): VNode {
  const { check, isDirty, isChecked } = props;
  const [tab, setTab] = useState<(typeof TABS)[number]["value"]>("Preview");
  const shown =
    check === null ? (
      <Loading />
    ) : tab === "Preview" ? (
      <div class="paper">
        <Markdown nodes={check.body} />
      </div>
    ) : !isDirty ? (
      <p class="soft">Nothing is changed yet.</p>
    ) : isChecked ? (
      <Diff lines={check.diff} label="What saving will change" />
    ) : (
      <Loading />
    );
  return (
    <section class="stack-s" aria-label={tab}>
      <Choices label="Beside the text" choices={TABS} isChosen={(each) => each === tab} onChoose={setTab} />
      {shown}
    </section>
  );
}

// --- A new memory, written by hand.

const TYPES: [type: string, says: string][] = [
  ["user", "who the person is and what they like"],
  ["feedback", "how to work: corrections and what went well"],
  ["project", "what is so in this project and cannot be read from its code"],
  ["reference", "where something is found outside the project"],
];

const CUES = "Situations in which it should come to mind, one per line.";

/** Where it is kept, and so who sees it. */
const SCOPES = [
  ["", "this project: only you, only here"],
  ["user", "you: all your projects"],
  ["team", "the team: everybody with this repository"],
] as const;

/** After the last key: what is alike is found by meaning, which takes a moment. */
const ALIKE_MS = 500;

export function NewView(_: { params: URLSearchParams }): VNode {
  const { readOnly, version } = useStart();
  const { values, field } = useForm({ type: "feedback", scope: "", name: "", description: "", cues: "", body: "" });
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSaving, run] = useBusy();
  const leave = useGuard(values.name + values.description + values.cues + values.body !== "");
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input[type=text]")?.focus(), [readOnly]);
  const close = () => goBack("memories");
  const isReady = values.name.trim() !== "";
  const save = async () => {
    const { scope, cues, ...words } = values;
    const body = { ...words, cues: linesOf(cues), ...(scope !== "" && { scope }) };
    const answer = await run(send<ChangedAnswer>("POST", "/api/new", body));
    if (answer.failure !== null) return setFailure(answer.failure);
    const { ref, message, entry } = answer.value;
    leave();
    if (ref === null) replace("memories");
    else replace("memory", { ...ref });
    tellChanged(message, entry);
  };
  useKeys({ Escape: close, "Ctrl s": () => isReady && !isSaving && save() });
  if (readOnly && version !== "")
    return <ReadOnly title="New memory" says="This page is read-only: nothing can be written here." />;
  return (
    <>
      <PageHead title="New memory">
        <Button text="Cancel" kind="quiet" onClick={close} />
        <Button text="Save" kind="primary" isBusy={isSaving} disabled={!isReady} onClick={save} />
      </PageHead>
      <Failed failure={failure} />
      <div class="form stack" ref={form}>
        <Field label="Name" says="A short title." {...field("name")} />
        <Field label="Description" says="One line for the index: what it is about." {...field("description")} />
        <Alike words={[values.name, values.description, values.body].join("\n").trim()} />
        <TypeField {...field("type")} />
        <Field label="Kept for" options={SCOPES} {...field("scope")} />
        <Field label="Text" says="Markdown. [[name]] links to another memory." rows={10} {...field("body")} />
        <Field label="Cues" says={CUES} rows={3} {...field("cues")} />
      </div>
    </>
  );
}

/** What there is already, before it is written twice. */
function Alike({ words }: { words: string }): VNode | null {
  const [asked] = useLater(words, ALIKE_MS);
  const live = useLive<InspectAnswer>(
    asked.length < LEAST_CHARS ? null : "/api/inspect",
    { prompt: asked.slice(0, MAX_ASKED), adapter: "library" },
    { isPosted: true, isSteady: true },
  );
  const alike = (live.value?.memories ?? []).filter(({ outcome }) => outcome === "shown");
  if (alike.length === 0 || asked.length < LEAST_CHARS) return null;
  return (
    <Notice tone="accent">
      <p role="status">You may have this already:</p>
      <LinkRow memories={alike.slice(0, 4)} />
    </Notice>
  );
}

/** Of fewer letters nothing can be said. */
const LEAST_CHARS = 6;
/** The beginning says what it is about. */
const MAX_ASKED = 600;

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
