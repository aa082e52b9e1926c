/** A new memory, written by hand. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ChangedAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useStart } from "../live.ts";
import { Button, Field, useForm } from "../parts/basics.tsx";
import { tellDone } from "../parts/change.ts";
import { useGuard } from "../parts/dialog.tsx";
import { linesOf } from "../parts/format.ts";
import { useBusy } from "../parts/hooks.ts";
import { PageHead } from "../parts/layout.tsx";
import { Failed, Notice } from "../parts/notice.tsx";
import { type Failure, send } from "../remote.ts";
import { goBack, replace } from "../router.ts";

const TYPES: [type: string, says: string][] = [
  ["user", "who the person is and what they like"],
  ["feedback", "how to work: corrections and what went well"],
  ["project", "what is so in this project and cannot be read from its code"],
  ["reference", "where something is found outside the project"],
];

const CUES = "Situations in which it should come to mind, one per line.";

export function View(_: { params: URLSearchParams }): VNode {
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
