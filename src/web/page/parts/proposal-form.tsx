/** A proposal's fields, to be changed before it is accepted. */
import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ProposalRow } from "../../api.ts";
import { Button } from "./button.tsx";

export type Amended = Pick<ProposalRow, "name" | "type" | "description" | "body" | "cues">;

interface Props {
  proposal: ProposalRow;
  isBusy: boolean;
  onAccept: (amended: Amended) => void;
  onCancel: () => void;
}

const TYPES = ["user", "feedback", "project", "reference"];

export function ProposalForm({ proposal, isBusy, onAccept, onCancel }: Props): VNode {
  const { name, type, description, body, cues } = proposal;
  const [amended, setAmended] = useState({ name, type, description, body, cues: cues.join("\n") });
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const set = (key: keyof typeof amended) => (event: { currentTarget: { value: string } }) =>
    setAmended({ ...amended, [key]: event.currentTarget.value });
  const accept = () => onAccept({ ...amended, cues: linesOf(amended.cues) });
  return (
    <form
      class="proposal-form"
      onSubmit={(event) => {
        event.preventDefault();
        accept();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) accept();
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <div class="form-row">
        <p class="field grow">
          <label for={`${id}-name`}>Name</label>
          <input
            ref={first}
            id={`${id}-name`}
            type="text"
            dir="auto"
            required
            value={amended.name}
            onInput={set("name")}
          />
        </p>
        <p class="field">
          <label for={`${id}-type`}>Type</label>
          <select id={`${id}-type`} value={amended.type} onChange={set("type")}>
            {TYPES.map((known) => (
              <option key={known}>{known}</option>
            ))}
          </select>
        </p>
      </div>
      <p class="field">
        <label for={`${id}-description`}>Description</label>
        <input
          id={`${id}-description`}
          type="text"
          dir="auto"
          value={amended.description}
          onInput={set("description")}
        />
      </p>
      <p class="field">
        <label for={`${id}-body`}>Text</label>
        <textarea id={`${id}-body`} rows={8} dir="auto" value={amended.body} onInput={set("body")} />
      </p>
      <p class="field">
        <label for={`${id}-cues`}>Cues, one a line: what somebody would say when it helps</label>
        <textarea id={`${id}-cues`} rows={3} dir="auto" value={amended.cues} onInput={set("cues")} />
      </p>
      <div class="actions">
        <button type="submit" class="button button-primary" disabled={isBusy}>
          Accept as changed
        </button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
