/** What happened: the timeline, as a strip by day and as events that come in live, and past conversations with what they were shown and taught. */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { localDay } from "../../../text/local-day.ts";
import type { SessionList, SessionRow, SessionView, Timeline, TimelineEvent } from "../../api.ts";
import { useLive } from "../live.ts";
import { Age, Button, Field, LinkRow, List, Marked, MemoryLink, Soft } from "../parts/basics.tsx";
import { Columns } from "../parts/charts.tsx";
import { addDays, endOf, formatCount, formatDay, formatMoment, gatherDays, keyOf } from "../parts/format.ts";
import { useAsked, useNear } from "../parts/hooks.ts";
import { Answered, Empty, Heading, Kinds, Modes, Page, PageHead, readWithout } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { amend, formatRoute } from "../router.ts";

const KINDS: { kind: TimelineEvent["kind"]; title: string; class: string }[] = [
  { kind: "change", title: "Changes", class: "chart-1" },
  { kind: "recall", title: "Recalls", class: "chart-2" },
  { kind: "extraction", title: "Learning", class: "chart-3" },
  { kind: "dream", title: "Tidying up", class: "chart-4" },
  { kind: "sync", title: "Syncs", class: "chart-5" },
];

const NONE = (
  <Empty title="Nothing has happened yet" text="Every change to a memory and every recall appears here by day." />
);

const PAGE = 100;
/** More columns than this are too thin for a pointer on a narrow screen; then a column is a week. */
const MOST_COLUMNS = 120;

export function ActivityView({ params }: { params: URLSearchParams }): VNode {
  const session = params.get("session");
  if (session !== null) return <Conversation key={session} id={session} q={params.get("q") ?? ""} />;
  return params.get("tab") === "sessions" ? <Search params={params} /> : <TimelineView params={params} />;
}

const MODES = <Modes label="What is shown" view="activity" by="tab" modes={{ Timeline: null, Sessions: "sessions" }} />;

function TimelineView({ params }: { params: URLSearchParams }): VNode {
  const until = params.get("until") ?? "";
  const without = readWithout(params);
  const [limit, setLimit] = useState(PAGE);
  const query = { limit, before: until === "" ? null : endOf(until) };
  const live = useLive<Timeline>("/api/timeline", query, { isSteady: true });
  return (
    <Page title="Activity" lead="Everything that memdir did, as it happens." actions={MODES} live={live}>
      {({ days, counts, events, hasMore }) =>
        days.length + events.length === 0 ? (
          NONE
        ) : (
          <>
            <Strip days={days} counts={counts} without={without} />
            <div class="row">
              <Field label="Events up to" fieldClass="row" type="date" value={until} onInput={goTo} />
              {until === "" ? null : <Button text="Go to the newest" kind="quiet" onClick={() => goTo("")} />}
            </div>
            <Events events={events.filter(({ kind }) => !without.has(kind))} />
            {hasMore ? (
              <Older events={events.length} onAsk={() => setLimit(events.length + PAGE)} />
            ) : (
              <Soft text="There are no older events." />
            )}
          </>
        )
      }
    </Page>
  );
}

/** Asks for more when it is scrolled into view; the button is for everyone else. */
function Older({ events, onAsk }: { events: number; onAsk: () => void }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useNear(place, "0px");
  useEffect(() => {
    if (isSeen) onAsk();
    // It may still be in view after that.
  }, [isSeen, events]);
  return <div ref={place} children={<Button text="Older events" onClick={onAsk} />} />;
}

function Strip(props: Pick<Timeline, "days" | "counts"> & { without: ReadonlySet<string> }): VNode {
  const { days, counts, without } = props;
  const kinds = KINDS.map(({ kind, ...looks }) => ({ value: kind, ...looks, count: counts[kind] }));
  const shown = KINDS.filter(({ kind }) => !without.has(kind));
  const all = days.map((day) => ({ day: day.day, values: shown.map(({ kind }) => day[kind]) }));
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  const { columns, each } = gatherDays(all, MOST_COLUMNS);
  return (
    <section class="stack" aria-label="By day">
      <Kinds label="Kinds shown" choices={kinds} without={without} />
      {first === undefined || last === undefined ? null : (
        <Columns
          label={`Events by ${each === 1 ? "day" : "week"}, ${formatDay(first, true)} to ${formatDay(last, true)}`}
          columns={columns}
          kinds={shown}
          format={(count) => count.toLocaleString()}
          onChoose={(day) => goTo(each === 1 ? day : addDays(day, each - 1))}
        />
      )}
    </section>
  );
}

function Events({ events }: { events: TimelineEvent[] }): VNode {
  if (events.length === 0) return <Empty title="No matching events" />;
  return (
    <div class="stack">
      {Object.entries(Object.groupBy(events, ({ at }) => localDay(new Date(at)))).map(([day, these = []]) => (
        <section key={day} class="day stack-xs">
          <Heading title={formatDay(day, true)} count={formatCount(these.length, "event")} />
          <List class="ruled" item="event row" rows={these} keyOf={(event) => `${event.at} ${event.says} ${event.by}`}>
            {(event) => (
              <>
                <time class="age soft" style={{ width: "5rem" }} dateTime={event.at} children={timeOf(event.at)} />
                <span class={`dot ${KINDS.find(({ kind }) => kind === event.kind)?.class ?? ""}`} title={event.kind} />
                <div class="row row-wide grow">
                  <span dir="auto">{event.says}</span>
                  {event.memories.map((memory) => (
                    <MemoryLink key={keyOf(memory)} memory={memory} />
                  ))}
                  <span class="soft small" dir="auto" children={event.by} />
                  {event.session === undefined ? null : (
                    <a
                      class="small"
                      href={formatRoute("activity", { session: event.session })}
                      title={event.session}
                      children="session"
                    />
                  )}
                </div>
              </>
            )}
          </List>
        </section>
      ))}
    </div>
  );
}

function goTo(until: string): void {
  amend({ until });
}

function timeOf(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

// --- Past conversations: searched, and one of them read.

const PAUSE_MS = 250;
/** Rows and messages at first; the rest comes on demand, so that a long conversation opens at once. */
const ROWS_SHOWN = 60;
const MESSAGES_SHOWN = 150;
/** About two screens: longer messages are folded. */
const LONG_CHARS = 3000;

const CUT = "This conversation is too long to show completely; its end is omitted.";
const NO_SESSIONS = (
  <Empty title="No conversations yet" text="Conversations with agents in this project appear here, newest first." />
);
const SPEAKERS = { user: "User", assistant: "Agent", tool: "Tool", note: "Note" };

function Search({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked } = useAsked(params, "q", PAUSE_MS);
  const live = useLive<SessionList>("/api/sessions", { q: asked }, { isSteady: true });
  return (
    <>
      <PageHead title="Activity" lead="Past conversations of this project: what they were shown, and what they taught.">
        {MODES}
      </PageHead>
      <search>
        <Field label="Search conversations" type="search" value={typed} onInput={setTyped} />
      </search>
      <Answered live={live}>
        {({ sessions }) => (
          <>
            <p class="hidden" role="status" children={formatCount(sessions.length, "conversation")} />
            <List
              class="ruled"
              item="session"
              rows={sessions}
              keyOf={({ id }) => id}
              first={ROWS_SHOWN}
              none={asked === "" ? NO_SESSIONS : <Empty title={`No conversation contains “${asked}”`} />}
            >
              {(row) => <Row row={row} q={asked} />}
            </List>
          </>
        )}
      </Answered>
    </>
  );
}

function Row({ row, q }: { row: SessionRow; q: string }): VNode {
  return (
    <>
      <h2>
        <a href={formatRoute("activity", { session: row.id, q })} dir="auto" children={row.title || "Untitled"} />
      </h2>
      <p class="soft small">
        <Age at={row.at} /> · {formatCount(row.messages, "message")}
        {row.recalls === 0 ? "" : ` · memories shown ${formatCount(row.recalls, "time")}`}
        {row.learnt === 0 ? "" : ` · ${formatCount(row.learnt, "memory", "memories")} learnt`}
      </p>
      <p class="clamp" dir="auto" children={<Marked text={row.excerpt ?? ""} q={q} />} />
    </>
  );
}

function Conversation({ id, q }: { id: string; q: string }): VNode {
  const live = useLive<SessionView>("/api/session", { id });
  const [hasTools, setHasTools] = useState(false);
  const { row, messages: all = [], shown = [] } = live.value ?? {};
  const messages = all.filter(({ role }) => hasTools || role === "user" || role === "assistant");
  const hidden = all.length - messages.length;
  const lead = row && `${formatMoment(row.at)} · ${formatCount(row.messages, "message")}`;
  return (
    <>
      <p>
        <a href={formatRoute("activity", { tab: "sessions", q })}>← All sessions</a>
      </p>
      <PageHead title={row?.title || "Session"} lead={lead}>
        {hidden > 0 || hasTools ? (
          <Button
            text={hasTools ? "With tools and notes" : `Show ${formatCount(hidden, "message")} from tools and notes`}
            aria-pressed={hasTools}
            onClick={() => setHasTools(!hasTools)}
          />
        ) : null}
      </PageHead>
      <Answered live={live}>
        {({ learnt, proposed, isCut }) => (
          <>
            <Lines tone="plain" lines={isCut ? [CUT] : []} />
            {learnt.length + proposed.length === 0 ? null : (
              <section class="card stack-xs" aria-label="Learnt from it">
                <h2>Learnt from it</h2>
                <LinkRow memories={learnt} />
                {proposed.length === 0 ? null : (
                  <p>
                    <a href={formatRoute("review", { kind: "proposal" })}>{formatCount(proposed.length, "proposal")}</a>{" "}
                    <span class="soft" dir="auto" children={proposed.join(", ")} />
                  </p>
                )}
              </section>
            )}
            {messages.length === 0 ? <Empty title="This conversation is empty" /> : null}
            <List class="talk stack" isOrdered rows={messages} first={MESSAGES_SHOWN}>
              {(message) => (
                <>
                  <Message message={message} q={q} />
                  <Shown shown={shown.filter((each) => all[each.message] === message)} />
                </>
              )}
            </List>
            <Shown shown={shown.filter((each) => all[each.message] === undefined)} />
          </>
        )}
      </Answered>
    </>
  );
}

/** The memories that the model was given with a prompt, each with the reason. */
function Shown({ shown }: { shown: SessionView["shown"] }): VNode | null {
  const all = shown.flatMap((each) => each.memories);
  const memories = [...new Map(all.map((memory) => [keyOf(memory), memory])).values()];
  if (memories.length === 0) return null;
  return (
    <div class="notice tone-accent stack-xs" style={{ margin: "0.5rem 0 0 1.5rem" }}>
      <p class="small soft">{formatCount(memories.length, "memory was", "memories were")} shown to the model:</p>
      <List rows={memories} first={ROWS_SHOWN}>
        {(memory) => (
          <>
            <MemoryLink memory={memory} /> <span class="soft small" dir="auto" children={memory.why.join(" · ")} />
          </>
        )}
      </List>
    </div>
  );
}

function Message({ message: { role, at, text }, q }: { message: SessionView["messages"][number]; q: string }): VNode {
  const isLong = text.length > LONG_CHARS;
  const [isOpen, setOpen] = useState(false);
  const shown = isLong && !isOpen ? `${text.slice(0, LONG_CHARS)}…` : text;
  const turn = isOpen ? "Fold" : `Show all ${text.length.toLocaleString()} characters`;
  return (
    <div class={`said said-${role}`}>
      <p class="small">
        <strong>{SPEAKERS[role]}</strong>{" "}
        {at === null ? null : <time class="soft" dateTime={at} children={formatMoment(at)} />}
      </p>
      <div class={role === "tool" || role === "note" ? "box soft" : undefined} dir="auto">
        <Marked text={shown} q={q} />
      </div>
      {isLong ? <Button isSmall text={turn} onClick={() => setOpen(!isOpen)} /> : null}
    </div>
  );
}
