/** One memory: its text, its details, its history, and actions. */
import type { ComponentChildren, VNode } from "preact";
import type { ClaimRow, HistoryRow, MemoryTitle, MemoryView } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, List, MemoryLink, Soft, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { changeMemory, undo } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { formatBytes, formatCount, formatMoment } from "../parts/format.ts";
import { Answered, Empty, PageHead, Tabs } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { Dangling, Diff, Markdown } from "../parts/texts.tsx";
import { formatRoute, go, goBack, replace } from "../router.ts";

export function View({ params }: { params: URLSearchParams }): VNode {
  const query = { directory: params.get("directory") ?? "0", file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", query);
  const { readOnly } = useStart();
  const memory = live.value;
  const mayChange = memory !== null && !readOnly && !memory.row.isReadOnly;
  useKeys({
    e: () => {
      if (mayChange) go("edit", query);
    },
    Escape: () => goBack("memories"),
  });
  if (memory === null)
    return (
      <>
        <PageHead title={query.file} />
        {live.failure?.status === 404 ? <Gone /> : <Answered live={live}>{() => null}</Answered>}
      </>
    );
  return (
    <>
      <PageHead title={memory.row.name} lead={<span dir="auto">{memory.row.description}</span>}>
        {mayChange ? <Actions memory={memory} /> : null}
      </PageHead>
      <Marks row={memory.row} />
      <Lines lines={memory.row.problems} />
      <div class="split">
        <article class="main" aria-label="Content">
          {memory.body.length === 0 ? (
            <Soft text="The memory has no text beyond its description." />
          ) : (
            <Markdown nodes={memory.body} />
          )}
        </article>
        <MemorySide memory={memory} />
      </div>
      <Tabs label="Details" tabs={listTabs(memory)} name="tab" params={params} />
    </>
  );
}

function Marks({ row }: { row: MemoryView["row"] }): VNode {
  const marks = [
    <TypeTag key="type" type={row.type} />,
    `in ${row.scope}`,
    row.author === null ? null : `by ${row.author}`,
    <span key="age">
      changed <Age at={row.modified} />
    </span>,
    formatBytes(row.bytes),
    `recalled ${row.recalled === 0 ? "never" : `${row.recalled}×`}`,
    row.pinned ? "pinned" : null,
    row.isReadOnly ? "read-only" : null,
    row.verdict === null ? null : (
      <Tag key="verdict" tone={toneOf(row.verdict.state)} text={row.verdict.says || row.verdict.state} />
    ),
  ];
  return (
    <List class="row row-wide soft small" rows={marks.filter((mark) => mark !== null)}>
      {(mark) => <span dir="auto">{mark}</span>}
    </List>
  );
}

function listTabs({ claims, history, surfaced }: MemoryView) {
  return [
    { id: "claims", title: "Claims", count: claims.length, panel: <Claims claims={claims} /> },
    { id: "history", title: "History", count: history.length, panel: <History rows={history} /> },
    { id: "surfaced", title: "Surfaced", count: surfaced.length, panel: <Surfacings rows={surfaced} /> },
  ];
}

function Gone(): VNode {
  return (
    <Empty title="This memory no longer exists" text="It was forgotten or renamed. The timeline shows when.">
      <p>
        <a href={formatRoute("memories")}>All memories</a> · <a href={formatRoute("timeline")}>Timeline</a>
      </p>
    </Empty>
  );
}

/** Edit, rename, forget; each can be undone. */
function Actions({ memory }: { memory: MemoryView }): VNode {
  const { directory, file, name } = memory.row;
  const forget = async () => {
    const reason = await ask({
      title: `Forget “${name}”?`,
      text: "The file is removed. The journal keeps it, so you can undo this.",
      yes: "Forget",
      isDanger: true,
      field: { label: "Reason (recorded in the journal)" },
    });
    if (reason === null) return;
    if (await changeMemory("forget", "forgot", { directory, file, ...(reason !== "" && { reason }) }))
      replace("memories");
  };
  const rename = async () => {
    const wanted = await ask({
      title: "Rename",
      text: saysLinks(memory.links.from.length),
      yes: "Rename",
      field: { label: "New name", value: name, isRequired: true },
    });
    if (wanted === null || wanted === name) return;
    const renamed = await changeMemory("rename", "renamed to", { directory, file, to: wanted });
    if (renamed) replace("memory", { directory, file: renamed.file });
  };
  return (
    <>
      <Button text="Edit" kind="primary" href={formatRoute("edit", { directory, file })} />
      <Button text="Rename" onClick={rename} />
      <Button text="Forget" kind="danger" onClick={forget} />
    </>
  );
}

/** Links are by name, and those in other memories are not changed. */
function saysLinks(count: number): string {
  if (count === 0) return "Its file gets the new name too.";
  return `Its file gets the new name too. ${formatCount(count, "memory links", "memories link")} to the old name and must be changed.`;
}

/** Facts about a memory besides its text. */
function MemorySide({ memory }: { memory: MemoryView }): VNode {
  const { links, cues, fields, provenance } = memory;
  // Fields that are already shown are not repeated.
  const origin = provenance.filter(
    (fact) => !fields.some(({ key, value }) => key === fact.key && value === fact.value),
  );
  return (
    <aside class="stack small" aria-label="About this memory">
      <SidePart title="Links" isEmpty={links.to.length + links.from.length === 0}>
        <LinkList title="To" links={links.to} />
        <LinkList title="From" links={links.from} />
      </SidePart>
      <SidePart title="Cues" isEmpty={cues.length === 0}>
        <List rows={cues}>{(cue) => <span dir="auto">{cue}</span>}</List>
      </SidePart>
      <Facts title="Fields" facts={fields} />
      <Facts title="Where it comes from" facts={origin} />
    </aside>
  );
}

function SidePart(props: { title: string; isEmpty: boolean; children: ComponentChildren }): VNode | null {
  return props.isEmpty ? null : (
    <section class="stack-xs">
      <h2 class="small">{props.title}</h2>
      {props.children}
    </section>
  );
}

function LinkList({ title, links }: { title: string; links: (MemoryTitle | { name: string })[] }): VNode | null {
  if (links.length === 0) return null;
  return (
    <div>
      <h3 class="soft small">{title}</h3>
      <List rows={links}>
        {(link) =>
          "file" in link ? (
            <MemoryLink memory={link} />
          ) : (
            <Dangling name={link.name} says="There is no memory with this name" />
          )
        }
      </List>
    </div>
  );
}

function Facts({ title, facts }: { title: string; facts: MemoryView["fields"] }): VNode {
  return (
    <SidePart title={title} isEmpty={facts.length === 0}>
      <dl class="facts">
        {facts.map(({ key, value }) => (
          <div key={key}>
            <dt dir="auto">{key}</dt>
            <dd dir="auto">{Array.isArray(value) ? value.join(" · ") : formatFact(value)}</dd>
          </div>
        ))}
      </dl>
    </SidePart>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function formatFact(value: string): ComponentChildren {
  return MOMENT.test(value) ? <time dateTime={value}>{formatMoment(value)}</time> : value;
}

function Claims({ claims }: { claims: ClaimRow[] }): VNode {
  const what = "memdir checks paths, commands, versions and dates in a memory against the project.";
  return (
    <List class="ruled" item="record" rows={claims} none={<Empty title="No claims to check" text={what} />}>
      {({ verdict, text, kind, line, evidence }) => (
        <>
          <div class="row">
            <Tag tone={toneOf(verdict)} text={verdict} />
            <code dir="auto">{text}</code>
            <span class="soft">{line > 0 ? `${kind}, line ${line}` : kind}</span>
          </div>
          <Soft text={evidence} />
        </>
      )}
    </List>
  );
}

function History({ rows }: { rows: HistoryRow[] }): VNode {
  const what = "The journal begins with the first change that memdir makes.";
  const none = <Empty title="No recorded changes" text={what} />;
  return (
    <List class="ruled" item="record" isOrdered rows={rows} none={none} keyOf={({ id }) => id}>
      {(row, at) => <Change row={row} isOpen={at === 0} />}
    </List>
  );
}

function Change({ row, isOpen }: { row: HistoryRow; isOpen: boolean }): VNode {
  const { readOnly } = useStart();
  const undoThis = async () => {
    const given = await ask({
      title: `Undo this ${row.action}?`,
      text: `Made ${formatMoment(row.at)} by ${row.by}. You can undo the undo, too.`,
      yes: "Undo",
    });
    if (given !== null) await undo(row.id);
  };
  const isUndoable = row.canUndo && !row.undone && !readOnly;
  return (
    <details class="stack-s" open={isOpen}>
      <summary>
        <strong>{row.action}</strong>{" "}
        <span class="soft">
          <Age at={row.at} /> by {row.by}
        </span>{" "}
        {row.undone ? <Tag text="undone" /> : null}
      </summary>
      {row.reason === "" ? null : <p dir="auto">{row.reason}</p>}
      {row.diff.length === 0 ? (
        <Soft text="The text of this change is no longer kept." />
      ) : (
        <Diff lines={row.diff} label={`What ${row.action} changed`} />
      )}
      {isUndoable ? <Button isSmall text="Undo this change" onClick={undoThis} /> : null}
    </details>
  );
}

function Surfacings({ rows }: { rows: MemoryView["surfaced"] }): VNode {
  const what = "Try prompts in the recall view to see which ones would show it.";
  if (rows.length === 0) return <Empty title="It was never shown to a model" text={what} />;
  return (
    <List class="ruled" item="record" isOrdered rows={rows}>
      {({ at, adapter, session, why }) => (
        <>
          <p>
            <Age at={at} /> <span class="soft">through {adapter}</span>
            {session === null ? null : <code class="soft"> {session}</code>}
          </p>
          {why.map((reason) => (
            <Soft key={reason} text={reason} />
          ))}
        </>
      )}
    </List>
  );
}
