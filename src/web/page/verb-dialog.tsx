/** Any verb of the table as a form: its inputs, a button that runs it, and what it says. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { VerbForm } from "../api.ts";
import { changes, useLive } from "./live.ts";
import { Button, Field } from "./parts/basics.tsx";
import { Dialog, openDialog } from "./parts/dialog.tsx";
import { useBusy } from "./parts/hooks.ts";
import { Answered } from "./parts/layout.tsx";
import { Failed } from "./parts/notice.tsx";
import { type Failure, send } from "./remote.ts";
import { route } from "./router.ts";

export function askVerb(name: string): void {
  openDialog(<VerbDialog name={name} />);
}

function VerbDialog({ name }: { name: string }): VNode {
  const live = useLive<VerbForm>("/api/verb", { name }, { isOnce: true });
  const { view, params } = route.get();
  // On a memory's page the verb is about that memory.
  const [input, setInput] = useState<Record<string, unknown>>(view === "memory" ? { name: params.get("file") } : {});
  const [said, setSaid] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, run] = useBusy();
  const isReady = live.value?.required.every((key) => (input[key] ?? "") !== "") ?? false;
  const submit = async () => {
    const given = Object.entries(input).filter(([, value]) => value !== "" && value !== false && value !== null);
    const known = given.filter(([key]) => Object.hasOwn(live.value?.properties ?? {}, key));
    const { value, failure } = await run(
      send<{ text: string }>("POST", `/api/${name}`, { ...Object.fromEntries(known), say: true }),
    );
    setSaid(value?.text ?? null);
    setFailure(failure);
    changes.set(changes.get() + 1);
  };
  const runButton = <Button kind="primary" text="Run" isBusy={isBusy} disabled={!isReady} onClick={submit} />;
  return (
    <Dialog title={name} isWide actions={runButton}>
      <Answered live={live}>
        {({ summary, about, properties }) => (
          <div class="stack-s">
            <p>{summary}.</p>
            {about === "" ? null : <p class="soft">{about}</p>}
            {Object.entries(properties).map(([key, property]) =>
              renderProperty(key, property, input[key], (value) => setInput({ ...input, [key]: value })),
            )}
          </div>
        )}
      </Answered>
      <Failed failure={failure} />
      {said === null ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <pre class="box" role="status" tabIndex={0} children={said === "" ? "Done." : said} />
      )}
    </Dialog>
  );
}

function renderProperty(
  name: string,
  property: VerbForm["properties"][string],
  value: unknown,
  onChange: (value: unknown) => void,
): VNode | null {
  const { type, enum: options, description = "" } = property;
  if (type === "boolean")
    return (
      <label key={name} class="row">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
        {name} <span class="soft small">{description}</span>
      </label>
    );
  if (type === "object") return null;
  const read = (typed: string) => {
    if (type === "array") return typed === "" ? "" : typed.split(",").map((each) => each.trim());
    return type === "integer" && typed !== "" ? Number(typed) : typed;
  };
  return (
    <Field
      key={name}
      label={name}
      says={description}
      value={String(value ?? "")}
      {...(options && { options: ["", ...options] })}
      onInput={(typed) => onChange(read(typed))}
    />
  );
}
