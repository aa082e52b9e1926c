/** Merges two versions of a memory: where they differ, the person picks one or both; the rest is the same. */
import type { VNode } from "preact";
import type { TextPart } from "../../api.ts";
import { Block, isChanged, titleOfField, Words } from "./diff.tsx";
import type { Pick } from "./merge-text.ts";
import { Markdown } from "./texts.tsx";

interface MergeProps {
  parts: TextPart[];
  picks: readonly Pick[];
  /** What the two are called. */
  titles: [left: string, right: string];
  isReadOnly: boolean;
  onPick: (at: number, pick: Pick) => void;
}

export function Merge({ parts, picks, titles, isReadOnly, onPick }: MergeProps): VNode {
  const shown = parts.map((part, at) => ({ part, at })).filter(({ part }) => part.field === null || isChanged(part));
  return (
    <div class="merge stack-s">
      <p class="row small soft">
        <span>
          <del class="sample">{titles[0]}</del> → <ins class="sample">{titles[1]}</ins>
        </span>
      </p>
      {shown.map(({ part, at }) =>
        isChanged(part) ? (
          <Choice
            key={at}
            part={part}
            pick={picks[at] ?? "left"}
            name={`part-${at}`}
            titles={titles}
            {...{ isReadOnly }}
          >
            {(pick) => onPick(at, pick)}
          </Choice>
        ) : (
          <Markdown key={at} nodes={part.body} />
        ),
      )}
    </div>
  );
}

interface ChoiceProps {
  titles: MergeProps["titles"];
  isReadOnly: boolean;
  part: TextPart;
  pick: Pick;
  name: string;
  children: (pick: Pick) => void;
}

function Choice({ part, pick, name, titles, isReadOnly, children: onPick }: ChoiceProps): VNode {
  const { field, before, after } = part;
  const both: [Pick, string][] = field === null || field === "when" ? [["both", "Both"]] : [];
  const choices: [Pick, string][] =
    before === null
      ? [
          ["right", "Add it"],
          ["none", "Leave it out"],
        ]
      : after === null
        ? [
            ["left", "Keep it"],
            ["none", "Leave it out"],
          ]
        : [["left", titles[0]], ["right", titles[1]], ...both];
  const isText = before !== null && after !== null;
  return (
    <fieldset class="choice card">
      <legend class="small soft">{field === null ? "Paragraph" : titleOfField(field)}</legend>
      {isText ? (
        <p class="block block-changed">
          <Words before={before} after={after} />
        </p>
      ) : field === null ? (
        <Block part={part} />
      ) : (
        <p class={`block block-${before === null ? "added" : "removed"} words`}>{before ?? after}</p>
      )}
      {isReadOnly ? null : (
        <div class="row small">
          {choices.map(([value, title]) => (
            <label key={value} class="chip">
              <input type="radio" name={name} checked={pick === value} onChange={() => onPick(value)} />
              <bdi>{title}</bdi>
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
