/** Differences: of two words' texts, of lines, and of a memory part by part. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { DiffLine, ReviewDetail, TextPart } from "../../api.ts";
import { TextButton } from "./basics.tsx";
import { Facts } from "./layout.tsx";
import { diffWords } from "./merge-text.ts";
import { Markdown, SCROLLS } from "./texts.tsx";

/** One text that became another; `only` shows one of the two with its own words marked. */
export function Words({ before, after, only }: { before: string; after: string; only?: "removed" | "added" }): VNode {
  const shown = diffWords(before, after).filter(({ kind }) => only === undefined || kind === "same" || kind === only);
  return (
    <span class="words" dir="auto">
      {shown.map(({ kind, text }, at) =>
        kind === "removed" ? <del key={at}>{text}</del> : kind === "added" ? <ins key={at}>{text}</ins> : text,
      )}
    </span>
  );
}

const SIGNS = { same: " ", added: "+", removed: "−", skipped: " " };
const SAID = { same: "", added: "added: ", removed: "removed: ", skipped: "" };

/** Line by line, with the words that differ; additions and removals are marked by a sign, not by colour alone. */
export function Diff({ lines, label }: { lines: DiffLine[]; label: string }): VNode {
  if (lines.every(({ kind }) => kind !== "added" && kind !== "removed")) return <p class="soft">No changes.</p>;
  const partners = findPartners(lines);
  return (
    <section class="box diff" aria-label={label} {...SCROLLS}>
      {lines.map((line, at) => (
        <Line key={at} line={line} partner={partners.get(line) ?? null} />
      ))}
    </section>
  );
}

function Line({ line, partner }: { line: DiffLine; partner: DiffLine | null }): VNode {
  const [isOpen, setOpen] = useState(false);
  const { kind, text, lines = [] } = line;
  if (isOpen)
    return (
      <>
        {lines.map((each, at) => (
          <Line key={at} line={{ kind: "same", text: each }} partner={null} />
        ))}
      </>
    );
  const isRemoved = kind === "removed";
  return (
    <div class={`diff-line diff-${kind}`}>
      <span aria-hidden="true">{SIGNS[kind]}</span>
      <span class="hidden">{SAID[kind]}</span>
      {lines.length > 0 ? (
        <TextButton text={`Show ${text}`} onClick={() => setOpen(true)} />
      ) : partner !== null ? (
        <Words
          before={isRemoved ? text : partner.text}
          after={isRemoved ? partner.text : text}
          only={isRemoved ? "removed" : "added"}
        />
      ) : (
        <span dir="auto">{kind === "skipped" ? `⋯ ${text}` : text}</span>
      )}
    </div>
  );
}

/** A removed line and the one that took its place. */
function findPartners(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
  const partners = new Map<DiffLine, DiffLine>();
  for (let at = 0; at < lines.length; ) {
    const count = (kind: DiffLine["kind"], from: number) => {
      let to = from;
      while (lines[to]?.kind === kind) to++;
      return to - from;
    };
    const removed = count("removed", at);
    const added = count("added", at + removed);
    for (let nth = 0; nth < Math.min(removed, added); nth++) {
      const [old, fresh] = [lines[at + nth] as DiffLine, lines[at + removed + nth] as DiffLine];
      partners.set(old, fresh).set(fresh, old);
    }
    at += removed + added || 1;
  }
  return partners;
}

export function isChanged({ before, after, isQuiet }: TextPart): boolean {
  return before !== after && !isQuiet;
}

const FIELDS: Record<string, string> = { when: "Cues", description: "Description", name: "Name", type: "Type" };

export function titleOfField(field: string): string {
  return FIELDS[field] ?? field.charAt(0).toUpperCase() + field.slice(1);
}

/** A memory as it will be, with what goes and comes marked in it. */
export function Change({ change }: { change: ReviewDetail["changes"][0] }): VNode {
  const { effect, parts } = change;
  // The item's head has its name and type already.
  const isNew = (part: TextPart) =>
    !["name", "type"].includes(part.field ?? "") || (effect === "changed" && isChanged(part));
  const fields = parts.filter((part) => part.field !== null && !part.isQuiet && isNew(part));
  const blocks = parts.filter(({ field }) => field === null);
  const show = (part: TextPart): [string, VNode] => [
    titleOfField(part.field ?? ""),
    effect === "changed" && isChanged(part) ? (
      <Words before={part.before ?? ""} after={part.after ?? ""} />
    ) : (
      <span class="words" dir="auto" children={part.after ?? part.before} />
    ),
  ];
  return (
    <div class={`change change-${effect} stack-s`}>
      <Facts facts={fields.map(show)} />
      {blocks.map((part, at) => (
        <Block key={at} part={part} isWhole={effect !== "changed"} />
      ))}
    </div>
  );
}

/** A paragraph: as it stays, comes or goes, or word by word. */
export function Block({ part, isWhole = false }: { part: TextPart; isWhole?: boolean }): VNode {
  const { before, after, body } = part;
  if (isWhole || before === after) return <Markdown nodes={body} />;
  if (before !== null && after !== null)
    return (
      <p class="block block-changed">
        <Words before={before} after={after} />
      </p>
    );
  const [kind, says] = before === null ? ["added", "Added"] : ["removed", "Removed"];
  return (
    <div class={`block block-${kind}`}>
      <span class="hidden">{says}: </span>
      <Markdown nodes={body} />
    </div>
  );
}
