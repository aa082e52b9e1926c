/** One memory: its text, and beside it whether it holds, its cues and links, where it was shown, and its history. */
import type { VNode } from "preact";
import type { ClaimRow, HistoryRow, MemoryTitle, MemoryView, Ref, ReviewVerb, VerbAnswer } from "../../api.ts";
import { type Command, useCommands, useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, formatMemoryRoute, List, Soft, Tag, TypeTag, toneOf } from "../parts/basics.tsx";
import { tellChanged, undo } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { Diff } from "../parts/diff.tsx";
import { formatBytes, formatCount, formatMoment, showName } from "../parts/format.ts";
import { Empty, Facts, Page, PageHead, Section } from "../parts/layout.tsx";
import { copy, Lines, tell, tellFailure, told } from "../parts/notice.tsx";
import { Claims, Dangling, Markdown } from "../parts/texts.tsx";
import { send } from "../remote.ts";
import { formatRoute, go, goBack, replace } from "../router.ts";
import { askCue, perform, sumUp, VERBS } from "./review-verbs.ts";

export function View({ params }: { params: URLSearchParams }): VNode {
  const query = { directory: Number(params.get("directory") ?? 0), file: params.get("file") ?? "" };
  const live = useLive<MemoryView>("/api/memory", query);
  const { readOnly } = useStart();
  const memory = live.value;
  const mayChange = memory !== null && !readOnly && !memory.row.isReadOnly;
  const act: Act | null = mayChange ? (verb, more = {}) => void run(memory, verb, more) : null;
  const [buttons, others] = act === null ? [[], []] : commandsOf(memory as MemoryView, act);
  const [cue] = others;
  useCommands([...buttons, ...others]);
  useKeys({ Escape: () => goBack("memories") });
  if (memory === null)
    return live.failure?.status === 404 ? (
      <Gone file={query.file} />
    ) : (
      <Page title={query.file} live={live} children={() => null} />
    );
  const { row, body, cues, claims, links, surfaced, history } = memory;
  const [wrong, right] = [claims.filter(({ isWrong }) => isWrong), claims.filter(({ isWrong }) => !isWrong)];
  const linked = links.to.length + links.from.length;
  return (
    <>
      <PageHead title={row.name} lead={<span dir="auto">{row.description}</span>}>
        {mayChange ? <Button text="Edit" kind="primary" href={formatRoute("edit", query)} /> : null}
        {buttons.slice(1).map(({ title, keys, run }) => (
          <Button
            key={title}
            text={title}
            kind={title === "Forget" ? "danger" : "plain"}
            aria-keyshortcuts={keys}
            onClick={run}
          />
        ))}
      </PageHead>
      <Marks row={row} isWrong={wrong.length > 0} />
      <Lines lines={row.problems} />
      <div class="memory two">
        <article class="stack" aria-label="Content">
          {wrong.length === 0 ? null : <Wrong claims={wrong} act={act} />}
          {body.length > 0 ? <Markdown nodes={body} /> : <Soft text={NO_TEXT} />}
        </article>
        <aside class="small" style={{ columns: "20rem", columnGap: "1.5rem" }} aria-label="About this memory">
          <Section class="record" title="Cues" count={cues.length}>
            <List rows={cues} none={<Soft text="None: it is found by its own words alone." />}>
              {(cue) => <span dir="auto">{cue}</span>}
            </List>
            {cue === undefined ? null : <Button isSmall text="Add a cue" onClick={cue.run} />}
          </Section>
          {linked === 0 ? null : (
            <Section title="Links" count={linked} class="record">
              <LinkGraph links={links} />
            </Section>
          )}
          <Section class="record" title="Shown to a model" count={row.recalled}>
            <Trace rows={surfaced} name={row.name} />
          </Section>
          {right.length === 0 ? null : (
            <Section title="What it names" count={right.length} class="record">
              <Claims claims={right} first={6} />
            </Section>
          )}
          <Section class="record" title="History" count={history.length}>
            <List rows={history} first={5} keyOf={({ id }) => id} none={<Soft text="No recorded changes." />}>
              {(change) => <Past row={change} />}
            </List>
          </Section>
          <Section class="record" title="About">
            <About memory={memory} />
          </Section>
        </aside>
      </div>
    </>
  );
}

const NO_TEXT = "The memory has no text beyond its description.";

async function run({ row }: MemoryView, verb: ReviewVerb, more: object): Promise<void> {
  // As an item of Review, whose verbs are the same.
  const item = { id: "", kind: "finding", title: row.name, memory: row, other: null } as const;
  const { value: undo, failure } = await perform(item, verb, more);
  if (failure !== null) return tellFailure(failure);
  tellChanged(sumUp(verb, [item]), undo);
  if (verb === "forget" || verb === "promote") goBack("memories");
}

function Marks({ row, isWrong }: { row: MemoryView["row"]; isWrong: boolean }): VNode {
  const { scope, author, verdict } = row;
  return (
    <p class="row row-wide soft small">
      <TypeTag type={row.type} />
      <bdi>{scope === "team" ? "shared with the team" : `in ${scope}`}</bdi>
      {author === null ? null : <bdi>by {author}</bdi>}
      <span>
        changed <Age at={row.modified} />
      </span>
      {row.pinned ? <Tag tone="accent" text="pinned" /> : null}
      {row.isReadOnly ? <span>read-only</span> : null}
      {verdict === null || verdict.state === "no claims" ? null : (
        // What is wrong is said above the text.
        <Tag tone={toneOf(verdict.state)} text={isWrong ? "out of date" : verdict.says || verdict.state} />
      )}
    </p>
  );
}

function Gone({ file }: { file: string }): VNode {
  return (
    <>
      <PageHead title={file} />
      <Empty
        title="This memory no longer exists"
        text="It was forgotten or renamed. Activity shows when, and can undo it."
      >
        <p>
          <a href={formatRoute("memories")}>All memories</a> · <a href={formatRoute("activity")}>Activity</a>
        </p>
      </Empty>
    </>
  );
}

type Act = (verb: ReviewVerb, more?: object) => void;

/** What has a button, and what only the palette and the keys offer. All of it can be undone, so nothing asks first. */
function commandsOf(memory: MemoryView, act: Act): [buttons: Command[], others: Command[]] {
  const { directory, file, pinned, scope, type, path } = memory.row;
  const addCue = () => askCue((cue) => act("cue", { cue }));
  const verb = (name: ReviewVerb): Command => ({
    ...OF_THIS,
    title: VERBS[name].title,
    keys: VERBS[name].key,
    run: () => act(name),
  });
  const share = { ...OF_THIS, title: "Share", run: () => act("promote") };
  return [
    [
      { ...verb("edit"), run: () => go("edit", { directory, file }) },
      verb(pinned ? "unpin" : "pin"),
      { ...OF_THIS, title: "Rename", run: () => rename(memory) },
      { ...OF_THIS, title: "Open in editor", run: () => openInEditor(memory.row) },
      ...(scope !== "team" && type !== "user" ? [share] : []),
      verb("forget"),
    ],
    [{ ...verb("cue"), run: addCue }, verb("true"), { title: "Copy the path", says: file, run: () => copyPath(path) }],
  ];
}

const OF_THIS = { says: "this memory" };

async function rename({ row: { directory, file, name }, links }: MemoryView): Promise<void> {
  const wanted = await ask({
    title: "Rename",
    text: saysLinks(links.from.length),
    yes: "Rename",
    field: { label: "New name", value: name },
  });
  if (wanted === null || wanted === name) return;
  const renamed = await told(send<VerbAnswer>("POST", "/api/rename", { directory, file, to: wanted }));
  if (renamed === null) return;
  tellChanged([`Renamed “${name}” to “${wanted}”`, ...renamed.notices].join("; "), renamed.undo);
  replace("memory", { directory, file: renamed.file });
}

async function openInEditor({ directory, file }: Ref): Promise<void> {
  const opened = await told(send<{ program: string | null; path: string }>("POST", "/api/open", { directory, file }));
  if (opened === null) return;
  if (opened.program !== null) return tell(`Opened with ${opened.program}.`, "good");
  await copyPath(opened.path, "No editor with a window is set (VISUAL); the path was copied.");
}

function copyPath(path: string, says = "The path was copied."): Promise<void> {
  return copy(path, says, () => tell(path));
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
      <Claims claims={claims} />
      {act === null ? null : (
        <div class="row">
          {isMoved ? <Button isSmall text="Fix the path" kind="primary" onClick={() => act("fix")} /> : null}
          <Button isSmall text="Still true" aria-keyshortcuts="t" onClick={() => act("true")} />
        </div>
      )}
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
  const curves = (names: number, outer: number, bend: number, inner: number) =>
    Array.from({ length: names }, (_, nth) => {
      const y = middle + (nth - (names - 1) / 2) * ROW;
      return `M${outer} ${y}C${bend} ${y} ${bend} ${middle} ${inner} ${middle}`;
    }).join("");
  const rest = links.from.length + links.to.length - from.length - to.length;
  return (
    <>
      <div class="link-graph">
        <LinkList title="Linked from" links={from} />
        <svg viewBox={`0 0 80 ${height}`} height={height} aria-hidden="true">
          <path class="edge" d={curves(from.length, 2, 20, 34) + curves(to.length, 78, 60, 46)} />
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
    <List label={title} rows={links} item="clip" none={<span />}>
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
      <List class="ruled" rows={rows} first={5} label={`Where ${name} was shown`}>
        {({ at, adapter, session, prompt, used, why }) => (
          <>
            <p class="row small">
              <span class="soft">
                <Age at={at} />, to {DOORS[adapter] ?? adapter}
              </span>
              {used ? <Tag tone="good" text="used" title={`The answer names ${used}`} /> : null}
              {session === null ? null : <a href={formatRoute("activity", { session })}>conversation</a>}
            </p>
            {prompt === null ? <Soft text={why[0] ?? ""} /> : <p class="block" dir="auto" children={prompt} />}
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
  const all = [...provenance, ...fields, { key: "size", value: formatBytes(row.bytes) }];
  const show = (key: string, value: string) => {
    if (key === "session") return <a href={formatRoute("activity", { session: value })}>the conversation</a>;
    return MOMENT.test(value) ? <time dateTime={value}>{formatMoment(value)}</time> : value;
  };
  return (
    <Facts facts={all.map(({ key, value }) => [key, Array.isArray(value) ? value.join(" · ") : show(key, value)])} />
  );
}
