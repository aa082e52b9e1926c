/** One memory: its text, and beside it whether it holds, its cues and links, where it was shown, and its history. */
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { ClaimRow, HistoryRow, MemoryTitle, MemoryView, ReviewItem, ReviewVerb } from "../../api.ts";
import { useCommands } from "../commands.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, formatMemoryRoute, List, Soft, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { changeMemory, tellChanged, undo } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { copyPath, openInEditor } from "../parts/file.ts";
import { formatBytes, formatCount, formatMoment, showName } from "../parts/format.ts";
import { Answered, Empty, PageHead } from "../parts/layout.tsx";
import { Lines, tellFailure } from "../parts/notice.tsx";
import { Dangling, Markdown } from "../parts/texts.tsx";
import { formatRoute, go, goBack, replace } from "../router.ts";
import { CueForm } from "./review-item.tsx";
import { perform, sumUp } from "./review-verbs.ts";

export function View({ params }: { params: URLSearchParams }): VNode {
  const query = { directory: Number(params.get("directory") ?? 0), file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", query);
  const { readOnly } = useStart();
  const memory = live.value;
  const mayChange = memory !== null && !readOnly && !memory.row.isReadOnly;
  const [isCueing, setCueing] = useState(false);
  const act = (verb: ReviewVerb, more: object = {}) => {
    if (mayChange) void run(memory, verb, more);
  };
  const edit = () => {
    if (mayChange) go("edit", query);
  };
  const turnPin = () => act(memory?.row.pinned ? "unpin" : "pin");
  useKeys({
    ...{ e: edit, p: turnPin, t: () => act("true"), d: () => act("forget") },
    c: (event) => {
      event.preventDefault();
      setCueing(mayChange);
    },
    Escape: () => (isCueing ? setCueing(false) : goBack("memories")),
  });
  useCommands([
    { title: "Edit this memory", keys: "e", run: edit },
    { title: "Pin or unpin this memory", keys: "p", run: turnPin },
    { title: "Confirm that this memory is still true", keys: "t", run: () => act("true") },
    { title: "Forget this memory", keys: "d", run: () => act("forget") },
  ]);
  if (memory === null)
    return (
      <>
        <PageHead title={query.file} />
        {live.failure?.status === 404 ? <Gone /> : <Answered live={live}>{() => null}</Answered>}
      </>
    );
  const { row, body, cues, claims, links, surfaced, history } = memory;
  const wrong = claims.filter(({ isWrong }) => isWrong);
  return (
    <>
      <PageHead title={row.name} lead={<span dir="auto">{row.description}</span>}>
        {mayChange ? <Actions memory={memory} act={act} /> : null}
      </PageHead>
      <Marks row={row} isWrong={wrong.length > 0} />
      <Lines lines={row.problems} />
      <div class="memory">
        <article class="stack" aria-label="Content">
          {wrong.length === 0 ? null : <Wrong claims={wrong} act={mayChange ? act : null} />}
          {body.length === 0 ? (
            <Soft text="The memory has no text beyond its description." />
          ) : (
            <Markdown nodes={body} />
          )}
        </article>
        <aside class="records" aria-label="About this memory">
          <Record title="Cues" count={cues.length}>
            <List rows={cues} none={<Soft text="None: it is found by its own words alone." />}>
              {(cue) => <span dir="auto">{cue}</span>}
            </List>
            {!mayChange ? null : isCueing ? (
              <CueForm
                onCancel={() => setCueing(false)}
                onAdd={(cue) => {
                  setCueing(false);
                  act("cue", { cue });
                }}
              />
            ) : (
              <Button isSmall text="Add a cue" onClick={() => setCueing(true)} />
            )}
          </Record>
          <Record
            title="Links"
            count={links.to.length + links.from.length}
            isEmpty={links.to.length + links.from.length === 0}
          >
            <LinkGraph links={links} />
          </Record>
          <Record title="Shown to a model" count={row.recalled}>
            <Trace rows={surfaced} name={row.name} />
          </Record>
          <Record title="What it names" count={claims.length - wrong.length} isEmpty={claims.length === wrong.length}>
            <List rows={claims.filter(({ isWrong }) => !isWrong)} first={6} item="row">
              {({ verdict, text, evidence }) => (
                <>
                  <Tag tone={toneOf(verdict)} text={verdict} title={evidence} />
                  <code dir="auto">{text}</code>
                </>
              )}
            </List>
          </Record>
          <Record title="History" count={history.length}>
            <List rows={history} first={5} keyOf={({ id }) => id} none={<Soft text="No recorded changes." />}>
              {(change) => <Past row={change} />}
            </List>
          </Record>
          <Record title="About">
            <About memory={memory} />
          </Record>
        </aside>
      </div>
    </>
  );
}

/** As an item of Review, whose verbs are the same. */
function itemOf({ row, links: _ }: MemoryView): ReviewItem {
  const { directory, file, name, description, type, modified } = row;
  const memory = { directory, file, name };
  return {
    id: "",
    kind: "finding",
    title: name,
    says: description,
    type,
    at: modified,
    memory,
    other: null,
    verbs: [],
  };
}

async function run(memory: MemoryView, verb: ReviewVerb, more: object): Promise<void> {
  const item = itemOf(memory);
  const { value, failure } = await perform(item, verb, more);
  if (failure !== null) return tellFailure(failure);
  tellChanged(sumUp(verb, [item]), value.undo);
  if (verb === "forget" || verb === "promote") goBack("memories");
}

function Marks({ row, isWrong }: { row: MemoryView["row"]; isWrong: boolean }): VNode {
  const { verdict } = row;
  const marks = [
    <TypeTag key="type" type={row.type} />,
    row.scope === "team" ? "shared with the team" : `in ${row.scope}`,
    row.author === null ? null : `by ${row.author}`,
    <span key="age">
      changed <Age at={row.modified} />
    </span>,
    row.pinned ? <Tag key="pin" tone="accent" text="pinned" /> : null,
    row.isReadOnly ? "read-only" : null,
    verdict === null || verdict.state === "no claims" ? null : (
      // What is wrong is said above the text.
      <Tag key="verdict" tone={toneOf(verdict.state)} text={isWrong ? "out of date" : verdict.says || verdict.state} />
    ),
  ];
  return (
    <List class="row row-wide soft small" rows={marks.filter((mark) => mark !== null)}>
      {(mark) => <span dir="auto">{mark}</span>}
    </List>
  );
}

function Gone(): VNode {
  return (
    <Empty
      title="This memory no longer exists"
      text="It was forgotten or renamed. Activity shows when, and can undo it."
    >
      <p>
        <a href={formatRoute("memories")}>All memories</a> · <a href={formatRoute("activity")}>Activity</a>
      </p>
    </Empty>
  );
}

type Act = (verb: ReviewVerb, more?: object) => void;

/** All of them can be undone, so none asks first. */
function Actions({ memory, act }: { memory: MemoryView; act: Act }): VNode {
  const { directory, file, name, pinned, scope, type } = memory.row;
  const rename = async () => {
    const wanted = await ask({
      title: "Rename",
      text: saysLinks(memory.links.from.length),
      yes: "Rename",
      field: { label: "New name", value: name, isRequired: true },
    });
    if (wanted === null || wanted === name) return;
    const renamed = await changeMemory("rename", `Renamed “${name}” to “${wanted}”`, { directory, file, to: wanted });
    if (renamed) replace("memory", { directory, file: renamed.file });
  };
  const isPrivate = scope !== "team" && type !== "user";
  useCommands([
    { title: "Open in editor", says: name, run: () => openInEditor(memory.row) },
    { title: "Copy the path", says: file, run: () => copyPath(memory.row.path) },
  ]);
  return (
    <>
      <Button text="Edit" kind="primary" href={formatRoute("edit", { directory, file })} />
      <Button text={pinned ? "Unpin" : "Pin"} aria-keyshortcuts="p" onClick={() => act(pinned ? "unpin" : "pin")} />
      <Button text="Rename" onClick={rename} />
      <Button text="Open in editor" onClick={() => openInEditor(memory.row)} />
      {isPrivate ? <Button text="Share" onClick={() => act("promote")} /> : null}
      <Button text="Forget" kind="danger" aria-keyshortcuts="d" onClick={() => act("forget")} />
    </>
  );
}

/** Links are by name, and those in other memories are not changed. */
function saysLinks(count: number): string {
  if (count === 0) return "Its file gets the new name too.";
  return `Its file gets the new name too. ${formatCount(count, "memory links", "memories link")} to the old name and must be changed.`;
}

/** What is out of date, with the verb that fits. */
function Wrong({ claims, act }: { claims: ClaimRow[]; act: Act | null }): VNode {
  const isMoved = claims.some(({ verdict }) => verdict === "moved");
  return (
    <section class="notice tone-warn stack-s" aria-label="Out of date">
      <List rows={claims} item="row">
        {({ verdict, text, line, evidence }) => (
          <>
            <Tag tone={toneOf(verdict)} text={verdict} />
            <code dir="auto">{text}</code>
            <span class="small">
              {line > 0 ? `line ${line}: ` : ""}
              {evidence}
            </span>
          </>
        )}
      </List>
      {act === null ? null : (
        <div class="row">
          {isMoved ? <Button isSmall text="Fix the path" kind="primary" onClick={() => act("fix")} /> : null}
          <Button isSmall text="Still true" aria-keyshortcuts="t" onClick={() => act("true")} />
        </div>
      )}
    </section>
  );
}

interface RecordProps {
  title: string;
  count?: number;
  isEmpty?: boolean;
  children: ComponentChildren;
}

function Record({ title, count, isEmpty = false, children }: RecordProps): VNode | null {
  return isEmpty ? null : (
    <section class="record stack-xs" aria-label={title}>
      <h2 class="small">
        {title} <span class="soft">{count}</span>
      </h2>
      {children}
    </section>
  );
}

/** The height of a name, as the style sheet has it. */
const ROW = 26;
const MOST_SHOWN = 8;

/** The memory in the middle, what links to it on the left, what it links to on the right. */
function LinkGraph({ links }: { links: MemoryView["links"] }): VNode {
  const [from, to] = [links.from.slice(0, MOST_SHOWN), links.to.slice(0, MOST_SHOWN)];
  const height = Math.max(from.length, to.length, 1) * ROW;
  const middle = height / 2;
  const lines = (of: number, x: number, isFrom: boolean) =>
    Array.from({ length: of }, (_, nth) => {
      const y = middle + (nth - (of - 1) / 2) * ROW;
      const side = isFrom
        ? `M2 ${y}C20 ${y} 20 ${middle} ${x} ${middle}`
        : `M${x} ${middle}C60 ${middle} 60 ${y} 78 ${y}`;
      return <path key={`${isFrom} ${nth}`} class="edge" d={side} />;
    });
  const rest = links.from.length + links.to.length - from.length - to.length;
  return (
    <>
      <div class="link-graph">
        <LinkList title="Linked from" links={from} />
        <svg viewBox={`0 0 80 ${height}`} height={height} aria-hidden="true">
          {lines(from.length, 34, true)}
          {lines(to.length, 46, false)}
          <circle class="point is-chosen" cx={40} cy={middle} r={6} />
        </svg>
        <LinkList title="Links to" links={to} />
      </div>
      {rest > 0 ? <Soft text={`and ${rest} more`} /> : null}
    </>
  );
}

/** A place for it also where there are none. */
function LinkList({ title, links }: { title: string; links: (MemoryTitle | { name: string })[] }): VNode {
  return (
    <List label={title} rows={links} none={<span />}>
      {(link) =>
        "file" in link ? (
          <a class="memory-link" href={formatMemoryRoute(link)} title={link.name} children={showName(link.name)} />
        ) : (
          <Dangling name={link.name} says="There is no memory with this name" />
        )
      }
    </List>
  );
}

const DOORS: { [adapter: string]: string } = {
  hook: "a coding agent",
  mcp: "an MCP client",
  agent: "memdir’s agent",
  cli: "the command line",
};

function Trace({ rows, name }: { rows: MemoryView["surfaced"]; name: string }): VNode {
  if (rows.length === 0) return <Soft text="Never yet. Try prompts in Recall to see which ones would show it." />;
  const known = rows.filter(({ used }) => used !== null);
  const helped = known.filter(({ used }) => used !== "");
  return (
    <>
      {known.length === 0 ? null : (
        <Soft text={`In ${helped.length} of the last ${known.length} the answer names something from it.`} />
      )}
      <List rows={rows} first={5} item="trace" label={`Where ${name} was shown`}>
        {({ at, adapter, session, prompt, used, why }) => (
          <>
            <p class="row small">
              <span class="soft">
                <Age at={at} />, to {DOORS[adapter] ?? adapter}
              </span>
              {used ? <Tag tone="good" text="used" title={`The answer names ${used}`} /> : null}
              {session === null ? null : <a href={formatRoute("activity", { session })}>conversation</a>}
            </p>
            {prompt === null ? <Soft text={why[0] ?? ""} /> : <p class="asked" dir="auto" children={prompt} />}
          </>
        )}
      </List>
    </>
  );
}

function Past({ row }: { row: HistoryRow }): VNode {
  const { readOnly } = useStart();
  const isUndoable = row.canUndo && !row.undone && !readOnly;
  return (
    <details class="stack-xs">
      <summary>
        {row.action}{" "}
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
      {isUndoable ? <Button isSmall text="Undo this change" onClick={() => undo(row.id)} /> : null}
    </details>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function About({ memory: { fields, provenance, row } }: { memory: MemoryView }): VNode {
  const facts = [...provenance, ...fields, { key: "size", value: formatBytes(row.bytes) }];
  return (
    <dl class="facts">
      {facts.map(({ key, value }) => (
        <div key={key}>
          <dt dir="auto">{key}</dt>
          <dd dir="auto">
            {Array.isArray(value) ? (
              value.join(" · ")
            ) : key === "session" ? (
              <a href={formatRoute("activity", { session: value })}>the conversation</a>
            ) : MOMENT.test(value) ? (
              <time dateTime={value}>{formatMoment(value)}</time>
            ) : (
              value
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
