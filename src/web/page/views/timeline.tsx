/** The timeline: what happened to the memories over months, as a strip by day and as events, newest first. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { localDay } from "../../../text/local-day.ts";
import type { Timeline, TimelineEvent } from "../../api.ts";
import { useLive } from "../live.ts";
import { Button, Dotted, Field, List, MemoryLink } from "../parts/basics.tsx";
import { Columns } from "../parts/charts.tsx";
import { addDays, endOf, fillDays, formatCount, formatDay, gatherDays, keyOf } from "../parts/format.ts";
import { useBusy } from "../parts/hooks.ts";
import { Empty, Heading, Kinds, Page, readWithout } from "../parts/layout.tsx";
import { tellFailure } from "../parts/notice.tsx";
import { get } from "../remote.ts";
import { amend, formatRoute } from "../router.ts";

const KINDS: { kind: TimelineEvent["kind"]; title: string; class: string }[] = [
  { kind: "change", title: "Changes", class: "chart-1" },
  { kind: "recall", title: "Recalls", class: "chart-2" },
  { kind: "extraction", title: "Extractions", class: "chart-3" },
  { kind: "dream", title: "Dreams", class: "chart-4" },
  { kind: "sync", title: "Syncs", class: "chart-5" },
];

const NONE = (
  <Empty title="Nothing has happened yet" text="Every change to a memory and every recall appears here by day." />
);

const PAGE = 100;
/** Enough characters to tell sessions apart; the whole id is shown on hover. */
const SHORT_ID = 8;
/** More columns than this are too thin for a pointer on a narrow screen; then a column is a week. */
const MOST_COLUMNS = 120;
/** A single day across the whole width says nothing. */
const LEAST_DAYS = 30;

export function View({ params }: { params: URLSearchParams }): VNode {
  const until = params.get("until") ?? "";
  const without = readWithout(params);
  const live = useLive<Timeline>("/api/timeline", { limit: PAGE, before: until === "" ? null : endOf(until) });
  const more = useMore(live.value);
  return (
    <Page
      title="Timeline"
      lead="Changes, recalls, extractions, dreams and syncs, as far back as the log goes."
      live={live}
      none={({ days, events }) => (days.length + events.length === 0 ? NONE : null)}
    >
      {({ days, events }) => (
        <>
          <Strip days={days} without={without} />
          <div class="row">
            <Field label="Events up to" fieldClass="row" type="date" value={until} onInput={goTo} />
            {until === "" ? null : <Button text="Go to the newest" kind="quiet" onClick={() => goTo("")} />}
          </div>
          <Events events={[...events, ...more.events].filter(({ kind }) => !without.has(kind))} />
          <More {...more} />
        </>
      )}
    </Page>
  );
}

/** What was fetched after the first page; it starts again when the first page changes. */
function useMore(first: Timeline | null) {
  const none = { of: first, events: [] as TimelineEvent[], hasMore: first?.hasMore ?? false };
  const [state, setState] = useState(none);
  const [isBusy, run] = useBusy();
  const current = state.of === first ? state : none;
  const fetch = async () => {
    const last = current.events.at(-1) ?? first?.events.at(-1);
    if (isBusy || last === undefined) return;
    const { value, failure } = await run(get<Timeline>("/api/timeline", { limit: PAGE, before: last.at }));
    if (failure !== null) return tellFailure(failure);
    setState({
      of: first,
      events: [...current.events, ...value.events],
      hasMore: value.hasMore && value.events.length > 0,
    });
  };
  return { events: current.events, hasMore: current.hasMore, isBusy, fetch };
}

function Strip({ days, without }: { days: Timeline["days"]; without: ReadonlySet<string> }): VNode {
  const shown = KINDS.filter(({ kind }) => !without.has(kind));
  const all = days.map((day) => ({ day: day.day, values: shown.map(({ kind }) => day[kind]) }));
  const first = days[0]?.day;
  const last = days.at(-1)?.day;
  const month = last === undefined ? undefined : addDays(last, 1 - LEAST_DAYS);
  const from = first !== undefined && month !== undefined && first < month ? first : month;
  const { columns, each } = gatherDays(fillDays(all, shown.length, from, last), MOST_COLUMNS);
  return (
    <section class="stack" aria-label="By day">
      <Kinds
        label="Kinds shown"
        kinds={KINDS}
        countOf={(kind) => days.reduce((sum, day) => sum + day[kind], 0)}
        without={without}
      />
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
      {groupByDay(events).map(({ day, events: these }) => (
        <section key={day} class="day stack-xs">
          <Heading title={formatDay(day, true)} count={formatCount(these.length, "event")} />
          <List class="ruled" item="event row" rows={these}>
            {(event) => (
              <>
                <time class="soft" dateTime={event.at} children={timeOf(event.at)} />
                <Dotted dot={KINDS.find(({ kind }) => kind === event.kind)?.class ?? ""} text={event.kind} />
                <EventWords event={event} />
              </>
            )}
          </List>
        </section>
      ))}
    </div>
  );
}

function EventWords({ event: { says, session, memories } }: { event: TimelineEvent }): VNode {
  return (
    <div class="row row-wide grow">
      <span dir="auto">{says}</span>
      {session === undefined ? null : (
        <span class="soft">
          in session{" "}
          <a href={formatRoute("sessions", { id: session })} title={session} children={session.slice(0, SHORT_ID)} />
        </span>
      )}
      {memories.map((memory) => (
        <MemoryLink key={keyOf(memory)} memory={memory} />
      ))}
    </div>
  );
}

/** Fetches automatically when it is scrolled into view; the button is for everyone else. */
function More({ fetch, isBusy, hasMore, events }: ReturnType<typeof useMore>): VNode {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(fetch);
  latest.current = fetch;
  useEffect(() => {
    const watching = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
    });
    if (place.current !== null) watching.observe(place.current);
    return () => watching.disconnect();
    // It may still be in view after that: observed again.
  }, [events.length, hasMore]);
  if (!hasMore) return <p class="soft">There are no older events.</p>;
  return (
    <div ref={place}>
      <Button text="Older events" onClick={fetch} isBusy={isBusy} />
    </div>
  );
}

function goTo(until: string): void {
  amend({ until });
}

function groupByDay(events: TimelineEvent[]): { day: string; events: TimelineEvent[] }[] {
  const days: { day: string; events: TimelineEvent[] }[] = [];
  for (const event of events) {
    const day = localDay(new Date(event.at));
    const last = days.at(-1);
    if (last?.day === day) last.events.push(event);
    else days.push({ day, events: [event] });
  }
  return days;
}

function timeOf(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}
