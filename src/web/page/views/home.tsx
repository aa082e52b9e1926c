/** Home: what waits for me, what changed since I was here, what the model will be given; and how healthy the memories are. */
import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { type HealthView, type Home, REVIEW_KINDS, type ReviewKind } from "../../api.ts";
import { useLive, useStart, waiting } from "../live.ts";
import { Age, Bar, Button, formatMemoryRoute, LinkRow, List, MemoryLink, Soft, type Tone } from "../parts/basics.tsx";
import { tellChanged } from "../parts/change.ts";
import { Columns, ContextBar } from "../parts/charts.tsx";
import { formatCount, formatMoment } from "../parts/format.ts";
import { JobButton, startJob } from "../parts/jobs.tsx";
import { Answered, Heading, Loading, PageHead, Section } from "../parts/layout.tsx";
import { Lines, told } from "../parts/notice.tsx";
import { send } from "../remote.ts";
import { formatRoute } from "../router.ts";
import { useStore } from "../store.ts";

export function HomeView(_: { params: URLSearchParams }): VNode {
  const { project } = useStart();
  const since = useLastVisit(project);
  const live = useLive<Home>("/api/home", { since });
  return (
    <>
      <PageHead title="Home" lead={live.value && sumUp(live.value)} />
      <Lines lines={useStart().warnings} tone="plain" />
      <Answered live={live}>
        {({ total, changed, given, cost }) =>
          total === 0 ? (
            <FirstRun />
          ) : (
            <>
              <div class="even">
                <WaitingPanel />
                <ChangedPanel changed={changed} isFirst={since === null} />
                <GivenPanel given={given} total={total} />
              </div>
              <HealthPanel />
              <CostPanel cost={cost} />
            </>
          )
        }
      </Answered>
    </>
  );
}

/** Before this long a visit is still the same one: a page that was reloaded has shown nothing new. */
const VISIT_MS = 30 * 60_000;

/** When this browser showed the project's page last, before now; null on the first visit. */
function useLastVisit(project: string): string | null {
  const name = `memdir-seen-${project}`;
  const since = useMemo(() => {
    // When the visit before the last one was, and when the page was last shown.
    const { before = null, last = null } = JSON.parse(localStorage.getItem(name) ?? "{}");
    const isSame = last !== null && Date.now() - Date.parse(last) < VISIT_MS;
    return isSame ? before : last;
  }, [name]);
  useEffect(() => {
    localStorage.setItem(name, JSON.stringify({ before: since, last: new Date().toISOString() }));
  }, [name]);
  return since;
}

function sumUp({ total, scopes }: Home): string {
  if (total === 0) return "No memories yet.";
  return `${formatCount(total, "memory", "memories")} in ${formatCount(scopes, "scope")}.`;
}

const WAITS: Record<ReviewKind, [one: string, many: string]> = {
  conflict: ["conflict with the team", "conflicts with the team"],
  proposal: ["proposed memory", "proposed memories"],
  dream: ["step of a tidy-up plan", "steps of a tidy-up plan"],
  finding: ["memory that may be wrong", "memories that may be wrong"],
  duplicate: ["pair that says the same", "pairs that say the same"],
  cues: ["memory without cues", "memories without cues"],
};

function WaitingPanel(): VNode {
  const waits = useStore(waiting);
  const kinds = REVIEW_KINDS.filter((kind) => (waits?.counts[kind] ?? 0) > 0);
  return (
    <Section class="card" title="Waiting for you">
      {waits === null ? (
        <Loading />
      ) : kinds.length === 0 ? (
        <Soft text="Nothing waits. Proposals, doubts and duplicates appear here." />
      ) : (
        <>
          <List class="waits" rows={kinds}>
            {(kind) => (
              <a href={formatRoute("review", { kind })}>
                <strong class="number" style={{ minWidth: "3rem", fontSize: "1rem" }}>
                  {waits.counts[kind].toLocaleString()}
                </strong>
                {WAITS[kind][waits.counts[kind] === 1 ? 0 : 1]}
              </a>
            )}
          </List>
          <Button
            text={waits.review === 0 ? "Review" : `Review ${waits.review.toLocaleString()}`}
            kind={waits.review === 0 ? "plain" : "primary"}
            href={formatRoute("review")}
          />
        </>
      )}
    </Section>
  );
}

function ChangedPanel({ changed, isFirst }: { changed: Home["changed"]; isFirst: boolean }): VNode {
  const { events, count, recalls: shown, sessions } = changed;
  const recalled =
    shown === 0
      ? "Nothing was recalled."
      : `Recalled ${shown === 1 ? "once" : `${shown.toLocaleString()} times`}${sessions === 0 ? "" : ` in ${formatCount(sessions, "session")}`}.`;
  return (
    <Section class="card" title={isFirst ? "In the last week" : "Since you were here"}>
      <p class="soft small">
        {isFirst ? null : <>{formatMoment(changed.since)} · </>}
        {recalled} {count === 0 ? "Nothing changed; before that:" : ""}
      </p>
      <List class="events" rows={events}>
        {({ at, says, memories, by }) => (
          <>
            <Age at={at} class="soft small" />
            <span dir="auto">
              {says} {memories.length === 1 && memories[0] ? <MemoryLink memory={memories[0]} /> : null}{" "}
              <span class="soft small">{by}</span>
            </span>
          </>
        )}
      </List>
      <a href={formatRoute("activity")}>
        {count > events.length ? `All ${count.toLocaleString()} changes` : "Activity"}
      </a>
    </Section>
  );
}

function GivenPanel({ given, total }: { given: Home["given"]; total: number }): VNode {
  const { index, context, most } = given;
  const often = Math.max(1, ...most.map(({ count }) => count));
  const left = total - index.listed;
  const says =
    left === 0
      ? `All ${formatCount(total, "memory is", "memories are")} in the index.`
      : `${index.listed.toLocaleString()} of ${formatCount(total, "memory", "memories")} are in the index; the others are shown when recall finds them.`;
  const cut = index.isCut ? " The index is cut: the model does not see its end." : "";
  return (
    <Section class="card" title="What the model is given">
      <ContextBar parts={context} />
      <p>
        {says}
        {cut}{" "}
        <span class="soft">
          {index.lines.toLocaleString()} of {index.maxLines.toLocaleString()} lines.
        </span>
      </p>
      {most.length === 0 ? null : <h3>Recalled most</h3>}
      <List class="counts" label="Recalled most" rows={most} none={<Soft text="Nothing was recalled yet." />}>
        {(memory) => (
          <>
            <span dir="auto" children={<MemoryLink memory={memory} />} />
            <Bar share={memory.count / often} label={memory.name} tone="plain" />
            <span class="number">{memory.count.toLocaleString()}</span>
          </>
        )}
      </List>
      <p class="row row-wide">
        <a href={formatRoute("recall")}>Try a prompt</a>
        <a href={formatRoute("recall", { tab: "context" })}>See all of it</a>
      </p>
    </Section>
  );
}

/** As `memdir health` says it. */
const GOOD = 80;
const POOR = 50;

function HealthPanel(): VNode {
  const health = useLive<HealthView>("/api/health").value;
  const { score = null, parts = [], memories = 0, isComplete = false } = health ?? {};
  const says = score === null ? "Reading every memory…" : isComplete ? "" : "Measuring again…";
  const none = <Soft text={`Nothing is wrong with ${formatCount(memories, "memory", "memories")}.`} />;
  return (
    <section class="card stack-s health" aria-label="Health" style={{ minHeight: "9rem" }}>
      <div class="row row-wide">
        <Heading title="Health" />
        {score === null ? null : <Score score={score} />}
        <span class="grow soft small" role="status" children={says} />
        <JobButton kind="verify" title="Check all claims" />
      </div>
      <List
        class="ruled health-parts"
        label="What brings the score down"
        rows={parts}
        keyOf={({ kind }) => kind}
        none={score === null ? null : none}
      >
        {(part) => <HealthPart part={part} memories={memories} />}
      </List>
    </section>
  );
}

function Score({ score }: { score: number }): VNode {
  const tone: Tone = score >= GOOD ? "good" : score >= POOR ? "warn" : "bad";
  const words = score >= GOOD ? "in good health" : score >= POOR ? "needs some care" : "needs a lot of care";
  return (
    <p class={`figure tone-${tone}`}>
      {score}
      <span class="soft"> of 100, {words}</span>
    </p>
  );
}

function HealthPart({ part, memories }: { part: HealthView["parts"][0]; memories: number }): VNode {
  const { kind, says, count, points, memories: named } = part;
  const queue = QUEUED[kind] && formatRoute("review", { kind: QUEUED[kind] });
  return (
    <>
      <span class="number soft" title="Points that it costs">
        {points === 0 ? "0" : `−${points}`}
      </span>
      <div class="stack-xs">
        <p>{says}</p>
        <LinkRow memories={named.slice(0, NAMED)} more={count - Math.min(NAMED, named.length)} href={queue} />
      </div>
      <Bar share={count / Math.max(1, memories)} label={`${count} of ${memories}`} tone="plain" />
      {queue === undefined ? <PartVerb part={part} /> : <Button isSmall text="Review" href={queue} />}
    </>
  );
}

/** Memories named next to a finding; the rest is counted. */
const NAMED = 3;

/** Where a kind of finding is worked on in the queue. */
const QUEUED: Readonly<Record<string, ReviewKind>> = {
  false: "finding",
  expired: "finding",
  duplicate: "duplicate",
  "near-duplicate": "duplicate",
  "never-recalled": "cues",
};

function PartVerb({ part: { kind, memories } }: { part: HealthView["parts"][0] }): VNode | null {
  const { readOnly } = useStart();
  const [first] = memories;
  if (kind === "unlinked") return readOnly ? null : <Button isSmall text="Rebuild the index" onClick={rebuildIndex} />;
  if (first === undefined) return null;
  if (kind === "restated" || kind === "unreadable" || readOnly)
    return <Button isSmall text="Open" href={formatMemoryRoute(first)} />;
  return <Button isSmall text="Edit" href={formatMemoryRoute(first, "edit")} />;
}

async function rebuildIndex(): Promise<void> {
  const done = await told(send("POST", "/api/index", { rebuild: true }));
  if (done !== null) tellChanged("The index was rebuilt", null);
}

function CostPanel({ cost }: { cost: Home["cost"] }): VNode | null {
  const { unpriced, tokens } = cost;
  if (tokens === 0 && cost.cost === 0) return null;
  // Calls without a known price still cost something, so the tokens are shown.
  const isPriced = cost.cost > 0 || unpriced.length === 0;
  const format = isPriced ? formatCost : (count: number) => count.toLocaleString();
  const of = (spent: { cost: number; tokens: number }) => (isPriced ? spent.cost : spent.tokens);
  const total = format(of(cost));
  const what = isPriced ? "Cost" : "Tokens";
  return (
    <Section class="card" title={`Background work in ${formatMonth(cost.month)}`}>
      <p class="figure">
        {total} <span class="soft">{isPriced ? `· ${formatCount(tokens, "token")}` : "tokens"}</span>
      </p>
      <Columns
        label={`${what} of background work by day, ${total} in total`}
        columns={cost.byDay.map((spent) => ({ day: spent.day, values: [of(spent)] }))}
        kinds={[{ title: what, class: "chart-1" }]}
        format={format}
      />
      {unpriced.length === 0 ? null : (
        <p class="soft">
          {isPriced ? "Not included, because their price is unknown" : "The price is unknown"}: {unpriced.join(", ")}
        </p>
      )}
      <List class="row row-wide small" rows={cost.byKind.filter((kind) => of(kind) > 0)}>
        {(spent) => (
          <>
            <span class="soft">{spent.kind}</span> {format(of(spent))}
          </>
        )}
      </List>
    </Section>
  );
}

/** With an empty store: the ways in which it fills. */
function FirstRun(): VNode {
  return (
    <section class="even" aria-label="First steps">
      <FirstStep title="Connect an agent" text="Your coding agents save what they learn and are shown what helps.">
        <Button text="Choose agents" kind="primary" href={formatRoute("settings")} />
      </FirstStep>
      <FirstStep
        title="Learn from past sessions"
        text="Conversations that are on this machine already say a lot; what they teach waits for your review."
      >
        <Button text="Learn from past sessions" onClick={() => startJob("learn")} />
      </FirstStep>
      <FirstStep title="Import" text="Memories of other programs, or of another folder.">
        <Button text="Find something to import" href={formatRoute("settings", { tab: "import" })} />
      </FirstStep>
      <FirstStep title="Write one" text="One fact in a sentence or two.">
        <Button text="New memory" href={formatRoute("new")} />
      </FirstStep>
    </section>
  );
}

function FirstStep({ title, text, children }: { title: string; text: string; children: VNode }): VNode {
  const { readOnly } = useStart();
  return (
    <Section class="card" title={title}>
      <p class="soft">{text}</p>
      {readOnly ? null : <p>{children}</p>}
    </Section>
  );
}

function formatMonth(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  return at.toLocaleDateString(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
}

/** Background work costs small sums: a tenth of a cent is still shown. */
function formatCost(cost: number): string {
  const digits = cost > 0 && cost < 1 ? 4 : 2;
  return `$${cost.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}
