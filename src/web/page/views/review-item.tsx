/** One item of Review: what it is and where it comes from, the memory with what would change, and what a person writes about it. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { MEMORY_TYPES, type ReviewDetail, type ReviewItem, type ReviewKind, type TextPart } from "../../api.ts";
import { Age, Button, Field, Form, formatMemoryRoute, Soft, Tag, TypeTag, useForm } from "../parts/basics.tsx";
import { Block, Change, isChanged, titleOfField } from "../parts/diff.tsx";
import { linesOf, showName } from "../parts/format.ts";
import type { Pick } from "../parts/merge-text.ts";
import { Claims, Markdown } from "../parts/texts.tsx";
import { formatRoute } from "../router.ts";

export const KINDS: Record<ReviewKind, { title: string; one: string }> = {
  conflict: { title: "Conflicts", one: "Conflict" },
  proposal: { title: "Proposals", one: "Proposal" },
  dream: { title: "Dream steps", one: "Dream step" },
  finding: { title: "Out of date", one: "Out of date" },
  duplicate: { title: "Duplicates", one: "Duplicate" },
  cues: { title: "Without cues", one: "No cues" },
};

export function ItemHead({ item, detail }: { item: ReviewItem; detail: ReviewDetail | null }): VNode {
  const { kind, title, says, type, at, memory } = item;
  return (
    <header class="stack-xs">
      <p class="row small">
        <Tag text={KINDS[kind].one} tone={kind === "conflict" || kind === "finding" ? "warn" : "accent"} />
        {type === null ? null : <TypeTag type={type} />}
        {at === null ? null : <Age at={at} class="soft" />}
      </p>
      <h2 class="item-title" style={{ font: "620 1.375rem / 1.25 var(--sans)" }}>
        {memory === null ? (
          <bdi>{showName(title)}</bdi>
        ) : (
          <a href={formatMemoryRoute(memory)} children={<bdi>{showName(title)}</bdi>} />
        )}
      </h2>
      {kind === "proposal" || kind === "cues" ? null : <p dir="auto">{says}</p>}
      {detail === null ? null : (
        <>
          {detail.reason === "" || says.includes(detail.reason) ? null : <Soft text={detail.reason} />}
          <Origin origin={detail.origin} />
        </>
      )}
    </header>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT/;

function Origin({ origin }: { origin: ReviewDetail["origin"] }): VNode | null {
  if (origin.length === 0) return null;
  return (
    <p class="row row-wide small soft">
      {origin.map(({ label, value, session }) => (
        <span key={label}>
          {label} {MOMENT.test(value) ? <Age at={value} /> : <bdi>{value}</bdi>}
          {session === undefined ? null : (
            <>
              {" · "}
              <a href={formatRoute("activity", { session })}>the conversation</a>
            </>
          )}
        </span>
      ))}
    </p>
  );
}

interface BodyProps {
  item: ReviewItem;
  detail: ReviewDetail;
  picks: readonly Pick[];
  onPick: (at: number, pick: Pick) => void;
}

const EFFECTS = { new: "New memory", changed: "Changes", removed: "Is forgotten", same: "Stays as it is" };

export function ItemBody({ item, detail, picks, onPick }: BodyProps): VNode {
  const { claims, changes, texts } = detail;
  const [first] = changes;
  return (
    <>
      <Claims claims={claims.filter(({ isWrong }) => isWrong)} />
      {texts !== null && first !== undefined ? (
        <Merge item={item} parts={first.parts} picks={picks} onPick={onPick} />
      ) : (
        changes.map((change, at) => (
          <section key={at} class="paper stack-s" aria-label={change.title}>
            {changes.length > 1 ? (
              <h3>
                <bdi>{showName(change.title)}</bdi> <span class="soft small">{EFFECTS[change.effect]}</span>
              </h3>
            ) : null}
            <Change change={change} />
          </section>
        ))
      )}
    </>
  );
}

/** Two versions of a memory: where they differ, the person picks one or both; the rest is the same. */
function Merge({ item, parts, picks, onPick }: Omit<BodyProps, "detail"> & { parts: TextPart[] }): VNode {
  const [left, right] = item.kind === "conflict" ? ["Ours", "Theirs"] : [item.title, item.other?.name ?? ""];
  const choicesOf = ({ field, before, after }: TextPart): Partial<Record<Pick, string>> => {
    if (before === null) return { right: "Add it", none: "Leave it out" };
    if (after === null) return { left: "Keep it", none: "Leave it out" };
    return { left, right, ...((field === null || field === "when") && { both: "Both" }) };
  };
  return (
    <div class="merge stack-s">
      <p class="small soft">
        <del>{left}</del> → <ins>{right}</ins>
      </p>
      {parts.map((part, at) => {
        const { field, before, after } = part;
        if (!isChanged(part)) return field === null ? <Markdown key={at} nodes={part.body} /> : null;
        return (
          <fieldset key={at} class="choice card">
            <legend class="small soft">{field === null ? "Paragraph" : titleOfField(field)}</legend>
            {field === null || (before !== null && after !== null) ? (
              <Block part={part} />
            ) : (
              <p class={`block block-${before === null ? "added" : "removed"} words`}>{before ?? after}</p>
            )}
            {!item.verbs.includes("merge") ? null : (
              <div class="row small">
                {(Object.entries(choicesOf(part)) as [Pick, string][]).map(([pick, title]) => (
                  <label key={pick} class="chip">
                    <input
                      type="radio"
                      name={`part-${at}`}
                      checked={pick === (picks[at] ?? "left")}
                      onChange={() => onPick(at, pick)}
                    />
                    <bdi>{title}</bdi>
                  </label>
                ))}
              </div>
            )}
          </fieldset>
        );
      })}
    </div>
  );
}

interface FormProps {
  words: NonNullable<ReviewDetail["words"]>;
  base: string | null;
  onAccept: (written: { amended: object; base: string | undefined }) => void;
  onCancel: () => void;
}

/** A proposal's fields, to be changed before it is accepted. */
export function ProposalForm({ words, base, onAccept, onCancel }: FormProps): VNode {
  // As it was when writing began, like the words.
  const [seen] = useState(base);
  const { values, field } = useForm({ ...words, cues: words.cues.join("\n") });
  const accept = () => onAccept({ amended: { ...values, cues: linesOf(values.cues) }, base: seen ?? undefined });
  return (
    <Form class="stack-s" takesFocus onSubmit={accept}>
      <div class="row">
        <Field label="Name" fieldClass="field grow" required {...field("name")} />
        <Field label="Type" options={MEMORY_TYPES} {...field("type")} />
      </div>
      <Field label="Description" {...field("description")} />
      <Field label="Text" rows={8} {...field("body")} />
      <Field label="Cues, one per line: what a person would say when it helps" rows={3} {...field("cues")} />
      <div class="row">
        <Button type="submit" text="Accept with changes" kind="primary" />
        <Button text="Cancel" kind="quiet" onClick={onCancel} />
      </div>
    </Form>
  );
}
