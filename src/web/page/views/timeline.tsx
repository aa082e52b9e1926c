/** The timeline: what happened to the memories over months, as a strip by day and as events, newest first. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { localDay } from "../../../text/local-day.ts";
import type { Timeline, TimelineEvent } from "../../api.ts";
import { useLive } from "../live.ts";
import { Button, Dotted, MemoryLink } from "../parts/basics.tsx";
import { Columns } from "../parts/charts.tsx";
import { addDays, endOf, fillDays, formatCount, formatDay, gatherDays, keyOf } from "../parts/format.ts";
import { Empty, Heading, PageHead, Waiting } from "../parts/layout.tsx";
import { tellFailure } from "../parts/notice.tsx";
import { get } from "../remote.ts";
import { amend, formatRoute } from "../router.ts";

type Kind = TimelineEvent["kind"];

const KINDS: { kind: Kind; title: string; class: string }[] = [
  { kind: "change", title: "Changes", class: "chart-1" },
  { kind: "recall", title: "Recalls", class: "chart-2" },
  { kind: "extraction", title: "Extractions", class: "chart-3" },
  { kind: "dream", title: "Dreams", class: "chart-4" },
  { kind: "sync", title: "Syncs", class: "chart-5" },
];

const PAGE = 100;
/** Enough characters to tell sessions apart; the whole id is shown on hover. */
const SHORT_ID = 8;
/** More columns than this are too thin for a pointer on a narrow screen; then a column is a week. */
const MOST_COLUMNS = 120;
/** A single day across the whole width says nothing. */
const LEAST_DAYS = 30;

export function View({ params }: { params: URLSearchParams }): VNode {
  const until = params.get("until") ?? "";
  const hidden = new Set((params.get("without") ?? "").split(",").filter((kind) => kind !== ""));
  const live = useLive<Timeline>("/api/timeline", { limit: PAGE, before: until === "" ? null : endOf(until) });
  const more = useMore(live.value);
  const turn = (kind: Kind) => {
    if (!hidden.delete(kind)) hidden.add(kind);
    amend({ without: [...hidden].join(",") });
  };
  return (
    <>
      <PageHead title="Timeline" lead="Changes, recalls, extractions, dreams and syncs, as far back as the log goes." />
      {live.value === null ? (
        <Waiting live={live} />
      ) : live.value.days.length === 0 && live.value.events.length === 0 ? (
        <Empty title="Nothing has happened yet">
          <p>Every change to a memory and every recall appears here by day.</p>
        </Empty>
      ) : (
        <>
          <Strip days={live.value.days} hidden={hidden} onTurn={turn} />
          <DayField until={until} />
          <Events events={[...live.value.events, ...more.events].filter(({ kind }) => !hidden.has(kind))} />
          {more.hasMore ? (
            <More onMore={more.fetch} isBusy={more.isBusy} count={more.events.length} />
          ) : (
            <p class="soft">There are no older events.</p>
          )}
        </>
      )}
    </>
  );
}

/** What was fetched after the first page; it starts again when the first page changes. */
function useMore(first: Timeline | null) {
  const none = { of: first, events: [] as TimelineEvent[], hasMore: first?.hasMore ?? false };
  const [state, setState] = useState(none);
  const [isBusy, setBusy] = useState(false);
  const current = state.of === first ? state : none;
  const fetch = async () => {
    const last = current.events.at(-1) ?? first?.events.at(-1);
    if (isBusy || last === undefined) return;
    setBusy(true);
    const { value, failure } = await get<Timeline>("/api/timeline", { limit: PAGE, before: last.at });
    setBusy(false);
    if (failure !== null) return tellFailure(failure);
    setState({
      of: first,
      events: [...current.events, ...value.events],
      hasMore: value.hasMore && value.events.length > 0,
    });
  };
  return { events: current.events, hasMore: current.hasMore, isBusy, fetch };
}

interface StripProps {
  days: Timeline["days"];
  hidden: Set<string>;
  onTurn: (kind: Kind) => void;
}

function Strip({ days, hidden, onTurn }: StripProps): VNode {
  const shown = KINDS.filter(({ kind }) => !hidden.has(kind));
  const all = days.map((day) => ({ day: day.day, values: shown.map(({ kind }) => day[kind]) }));
  const first = days[0]?.day;
  const last = days.at(-1)?.day;
  const month = last === undefined ? undefined : addDays(last, 1 - LEAST_DAYS);
  const from = first !== undefined && month !== undefined && first < month ? first : month;
  const { columns, each } = gatherDays(fillDays(all, shown.length, from, last), MOST_COLUMNS);
  return (
    <section class="stack" aria-label="By day">
      <fieldset class="row choices">
        <legend class="hidden">Kinds shown</legend>
        {KINDS.map(({ kind, title, class: colour }) => (
          <Button key={kind} isSmall isPressed={!hidden.has(kind)} onClick={() => onTurn(kind)}>
            <span class={`swatch ${hidden.has(kind) ? "" : colour}`} aria-hidden="true" />
            {title} <span class="soft">{days.reduce((sum, day) => sum + day[kind], 0).toLocaleString()}</span>
          </Button>
        ))}
      </fieldset>
      {first === undefined || last === undefined ? null : (
        <Columns
          label={`Events by ${each === 1 ? "day" : "week"}, ${formatDay(first, true)} to ${formatDay(last, true)}`}
          columns={columns}
          kinds={shown}
          format={(count) => count.toLocaleString()}
          onChoose={(day) => amend({ until: each === 1 ? day : addDays(day, each - 1) })}
        />
      )}
    </section>
  );
}

function DayField({ until }: { until: string }): VNode {
  return (
    <div class="row">
      <label class="row" for="until">
        <span class="soft">Events up to</span>
      </label>
      <input id="until" type="date" value={until} onChange={(event) => amend({ until: event.currentTarget.value })} />
      {until === "" ? null : (
        <Button kind="quiet" onClick={() => amend({ until: null })}>
          Go to the newest
        </Button>
      )}
    </div>
  );
}

function Events({ events }: { events: TimelineEvent[] }): VNode {
  if (events.length === 0) return <Empty title="No matching events" />;
  return (
    <div class="events">
      {groupByDay(events).map(({ day, events: these }) => (
        <section key={day} class="day">
          <Heading title={formatDay(day, true)} count={formatCount(these.length, "event")} />
          <ul>
            {these.map((event, at) => (
              <li key={`${event.at} ${at}`} class="event">
                <time class="soft number" dateTime={event.at}>
                  {timeOf(event.at)}
                </time>
                <Dotted dot={KINDS.find(({ kind }) => kind === event.kind)?.class ?? ""}>{event.kind}</Dotted>
                <div class="event-words">
                  <span dir="auto">{event.says}</span>{" "}
                  {event.session === undefined ? null : (
                    <span class="soft">
                      in session{" "}
                      <a href={formatRoute("sessions", { id: event.session })} title={event.session}>
                        {event.session.slice(0, SHORT_ID)}
                      </a>
                    </span>
                  )}{" "}
                  {event.memories.map((memory) => (
                    <MemoryLink key={keyOf(memory)} memory={memory} />
                  ))}
                </div>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** Fetches automatically when it is scrolled into view; the button is for everyone else. */
function More({ onMore, isBusy, count }: { onMore: () => void; isBusy: boolean; count: number }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    const watching = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
    });
    if (place.current !== null) watching.observe(place.current);
    return () => watching.disconnect();
    // It may still be in view after that: observed again.
  }, [count]);
  return (
    <div ref={place}>
      <Button onClick={onMore} isBusy={isBusy}>
        Older events
      </Button>
    </div>
  );
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
