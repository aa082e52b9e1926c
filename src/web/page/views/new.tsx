/** A new memory, written by hand. */
import type { ComponentChildren, VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { ChangedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useStart } from "../parts/start.ts";
import { tellChanged } from "../parts/undo.ts";
import { send } from "../remote.ts";
import { goBack, replace } from "../router.ts";
import { useGuard } from "./leave.ts";

const TYPES: [type: string, says: string][] = [
  ["user", "who the person is and what they like"],
  ["feedback", "how to work: corrections and what went well"],
  ["project", "what is so in this project and cannot be read from its code"],
  ["reference", "where something is found outside the project"],
];

const EMPTY = { type: "feedback", name: "", description: "", cues: "", body: "" };

export function View(_: { params: URLSearchParams }): VNode {
  const { readOnly, version } = useStart();
  const [form, setForm] = useState(EMPTY);
  const [problem, setProblem] = useState("");
  const [isSaving, setSaving] = useState(false);
  const leave = useGuard(form.name + form.description + form.cues + form.body !== "");
  useKeys({ Escape: () => goBack("memories") });
  const change = (key: keyof typeof EMPTY) => (value: string) => setForm({ ...form, [key]: value });
  const save = async () => {
    setSaving(true);
    const cues = form.cues.split("\n").map((cue) => cue.trim());
    const body = { ...form, cues: cues.filter((cue) => cue !== "") };
    const { value, failure } = await send<ChangedAnswer>("POST", "/api/new", body);
    setSaving(false);
    if (failure !== null) return setProblem(failure.message);
    leave();
    if (value.ref === null) replace("memories");
    else replace("memory", { ...value.ref });
    tellChanged(value.message, value.entry);
  };
  if (readOnly && version !== "")
    return (
      <>
        <PageHead title="New memory" />
        <Notice>This page only looks. Start `memdir ui` without --read-only to write.</Notice>
      </>
    );
  return (
    <>
      <PageHead title="New memory">
        <Button kind="quiet" onClick={() => goBack("memories")}>
          Cancel
        </Button>
        <Button kind="primary" isBusy={isSaving} isDisabled={form.name.trim() === ""} onClick={() => void save()}>
          Save
        </Button>
      </PageHead>
      {problem === "" ? null : <Notice tone="bad">{problem}</Notice>}
      <div class="form">
        <TypeField type={form.type} onChange={change("type")} />
        <LineField label="Name" says="A short title." value={form.name} onChange={change("name")} />
        <LineField
          label="Description"
          says="One line for the index: what it is about."
          value={form.description}
          onChange={change("description")}
        />
        <TextField
          label="Text"
          says="Markdown. [[name]] links to another memory."
          rows={10}
          value={form.body}
          onChange={change("body")}
        />
        <TextField
          label="Cues"
          says="Situations in which it should come to mind, one on a line."
          rows={3}
          value={form.cues}
          onChange={change("cues")}
        />
      </div>
    </>
  );
}

function TypeField({ type, onChange }: { type: string; onChange: (type: string) => void }): VNode {
  return (
    <fieldset class="field types">
      <legend>Type</legend>
      {TYPES.map(([id, says]) => (
        <label key={id}>
          <input type="radio" name="type" value={id} checked={id === type} onChange={() => onChange(id)} />
          <span>
            {id} <span class="soft">{says}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface FieldProps {
  label: string;
  says: string;
  value: string;
  onChange: (value: string) => void;
}

function LineField({ label, says, value, onChange }: FieldProps): VNode {
  const id = useId();
  return (
    <Labelled id={id} label={label} says={says}>
      <input
        id={id}
        type="text"
        dir="auto"
        autocomplete="off"
        aria-describedby={`${id}-says`}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Labelled>
  );
}

function TextField({ label, says, value, rows, onChange }: FieldProps & { rows: number }): VNode {
  const id = useId();
  return (
    <Labelled id={id} label={label} says={says}>
      <textarea
        id={id}
        dir="auto"
        rows={rows}
        aria-describedby={`${id}-says`}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Labelled>
  );
}

function Labelled(props: { id: string; label: string; says: string; children: ComponentChildren }): VNode {
  return (
    <div class="field">
      <label for={props.id}>{props.label}</label>
      {props.children}
      <p class="soft small" id={`${props.id}-says`}>
        {props.says}
      </p>
    </div>
  );
}
