/** A new memory, written by hand. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ChangedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useStart } from "../live.ts";
import { Button, TextField } from "../parts/basics.tsx";
import { tellChanged } from "../parts/change.ts";
import { useGuard } from "../parts/dialog.tsx";
import { linesOf } from "../parts/format.ts";
import { PageHead } from "../parts/layout.tsx";
import { Notice } from "../parts/notice.tsx";
import { send } from "../remote.ts";
import { goBack, replace } from "../router.ts";

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
  const field = (key: keyof typeof EMPTY) => ({
    value: form[key],
    onInput: (value: string) => setForm({ ...form, [key]: value }),
  });
  const save = async () => {
    setSaving(true);
    const { value, failure } = await send<ChangedAnswer>("POST", "/api/new", { ...form, cues: linesOf(form.cues) });
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
        <Notice>This page is read-only. Start `memdir ui` without --read-only to write.</Notice>
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
        <TypeField type={form.type} onChange={(type) => setForm({ ...form, type })} />
        <TextField label="Name" says="A short title." autocomplete="off" {...field("name")} />
        <TextField
          label="Description"
          says="One line for the index: what it is about."
          autocomplete="off"
          {...field("description")}
        />
        <TextField label="Text" says="Markdown. [[name]] links to another memory." rows={10} {...field("body")} />
        <TextField
          label="Cues"
          says="Situations in which it should come to mind, one per line."
          rows={3}
          {...field("cues")}
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
