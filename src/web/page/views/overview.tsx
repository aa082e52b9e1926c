/**
 * The overview: how many memories there are, what to fix first, what fills the model's context, what it costs and what
 * was recalled.
 */
import type { VNode } from "preact";
import type { Overview, RotView } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Bar, Button, LinkRow, List, MemoryLink, Soft, type Tone } from "../parts/basics.tsx";
import { Columns, ContextBar, Counts } from "../parts/charts.tsx";
import { fillDays, formatCount } from "../parts/format.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Answered, Empty, Loading, PageHead, Section } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { formatRoute } from "../router.ts";

/** Memories named next to an advice; the rest is counted. */
const NAMED = 6;

const CUT = "It is cut: the model does not see what comes after the limit unless it is recalled.";
const NOTHING_SPENT =
  "Nothing was spent this month. The cost of extraction, dreams and selection by a model appears here by day.";
const NOTHING_RECALLED = "Nothing was recalled yet. The most recalled memories appear here with their counts.";

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<Overview>("/api/overview");
  const { value } = live;
  // With thousands of memories it takes seconds: everything else is shown first.
  const rot = useLive<RotView>(value === null ? null : "/api/rot").value;
  return (
    <>
      <PageHead title="Overview" lead={value === null ? undefined : sumUp(value)} />
      <Lines lines={useStart().warnings} tone="plain" />
      <Answered live={live}>{(overview) => <Panels overview={overview} rot={rot} />}</Answered>
    </>
  );
}

function Panels({ overview, rot }: { overview: Overview; rot: RotView | null }): VNode {
  return (
    <>
      {overview.total === 0 ? (
        <Empty title="No memories yet">
          <p>
            Memories come from your agents as they work, from <code>memdir save</code>, or from here.
          </p>
          <Button text="Go to the memories" kind="primary" href={formatRoute("memories")} />
        </Empty>
      ) : (
        <Numbers overview={overview} />
      )}
      <Section title="Rot score">
        {rot === null ? <Loading text="Reading every memory…" /> : <Health rot={rot} total={overview.total} />}
      </Section>
      <Section title="What fills the model’s context at the start">
        <ContextBar parts={overview.context} />
      </Section>
      <div class="even">
        <CostPanel cost={overview.cost} />
        <RecalledPanel recalled={overview.recalled} total={overview.total} />
      </div>
    </>
  );
}

function Numbers({ overview }: { overview: Overview }): VNode {
  const countOf = (label: string, count: number, key: string) => ({
    label,
    count,
    title: (
      <>
        {key === "type" ? <span class={`dot type-${label}`} aria-hidden="true" /> : null}
        {key === "age" && count === 0 ? label : <a href={formatRoute("memories", { [key]: label })}>{label}</a>}
      </>
    ),
  });
  const counts: Record<string, [label: string, count: number][]> = {
    type: Object.entries(overview.byType),
    scope: Object.entries(overview.byScope),
    age: overview.byAge.map(({ label, count }) => [label, count]),
  };
  return (
    <section class="even" style={{ "--least": "12rem" }} aria-label="Memories by type, scope and age">
      {Object.entries(counts).map(([key, all]) => (
        <Section key={key} title={`By ${key}`}>
          <Counts caption={`Memories by ${key}`} counts={all.map(([label, count]) => countOf(label, count, key))} />
        </Section>
      ))}
      <Section title="The index">
        <IndexCap index={overview.index} />
      </Section>
    </section>
  );
}

function IndexCap({ index }: { index: Overview["index"] }): VNode {
  const caps = [
    { what: "lines", used: index.lines, most: index.maxLines },
    { what: "characters", used: index.chars, most: index.maxChars },
  ];
  return (
    <div class="stack-xs">
      {caps.map(({ what, used, most }) => (
        <div key={what}>
          <p>
            {used.toLocaleString()} <span class="soft">of {`${most.toLocaleString()} ${what}`}</span>
          </p>
          <Bar share={used / most} label={`${what}: ${used} of ${most}`} tone={toneOfShare(used / most)} />
        </div>
      ))}
      <Soft text={index.isCut ? CUT : "All of it is shown to the model."} />
    </div>
  );
}

function sumUp({ total, byScope }: Overview): string {
  const scopes = Object.values(byScope).filter((count) => count > 0).length;
  return total === 0
    ? "No memories."
    : `${formatCount(total, "memory", "memories")} in ${formatCount(scopes, "scope")}.`;
}

function toneOfShare(share: number): Tone {
  return share >= 1 ? "bad" : share > 0.85 ? "warn" : "accent";
}

function Health({ rot, total }: { rot: RotView; total: number }): VNode {
  const tone = rot.score >= 90 ? "good" : rot.score >= 70 ? "warn" : "bad";
  return (
    <div class="split" style={{ "--side": "12rem" }}>
      <div class="stack-xs">
        <p class={`figure tone-${tone}`}>
          {rot.score}
          <span class="soft"> of 100</span>
        </p>
        <Bar share={rot.score / 100} label={`${rot.score} of 100`} tone={tone} />
        <p class="soft">100 means nothing is wrong.</p>
        {total === 0 ? null : <JobButton kind="verify" title="Check all claims" />}
      </div>
      {rot.first.length === 0 ? (
        <Soft text={total === 0 ? "What to fix first appears here." : "Nothing to fix: no problems are known."} />
      ) : (
        <List class="todo stack main" label="What to do first" isOrdered rows={rot.first}>
          {({ title, memories, count, todo }) => (
            <>
              <h3>{title}</h3>
              <LinkRow memories={memories.slice(0, NAMED)} more={count - NAMED} />
              {todo === "" ? null : (
                <p class="soft small">
                  in a terminal: <code>{todo}</code>
                </p>
              )}
            </>
          )}
        </List>
      )}
    </div>
  );
}

function CostPanel({ cost }: { cost: Overview["cost"] }): VNode {
  const { unpriced } = cost;
  const tokens = cost.byDay.reduce((sum, day) => sum + day.tokens, 0);
  // Calls without a known price still cost something, so the tokens are shown.
  const isPriced = cost.total > 0 || unpriced.length === 0;
  const format = isPriced ? formatCost : formatTokens;
  const days = cost.byDay.map((day) => ({ day: day.day, values: [isPriced ? day.cost : day.tokens] }));
  const kinds = Object.entries(isPriced ? cost.byKind : cost.tokensByKind).filter(([, spent]) => spent > 0);
  const what = isPriced ? "Cost" : "Tokens";
  const total = format(isPriced ? cost.total : tokens);
  return (
    <Section title={`Background work in ${formatMonth(cost.month)}`}>
      {tokens === 0 && cost.total === 0 ? (
        <Soft text={NOTHING_SPENT} />
      ) : (
        <>
          <p class="figure">
            {total} <span class="soft">{isPriced ? `· ${formatCount(tokens, "token")}` : "tokens"}</span>
          </p>
          <Columns
            label={`${what} of background work by day, ${total} in total`}
            columns={fillDays(days, 1, `${cost.month}-01`)}
            kinds={[{ title: what, class: "chart-1" }]}
            format={format}
          />
          {unpriced.length === 0 ? null : (
            <p class="soft">
              {isPriced ? "Not included, because their price is unknown" : "The price is unknown"}:{" "}
              {unpriced.join(", ")}
            </p>
          )}
          <List class="row row-wide small" rows={kinds}>
            {([kind, spent]) => (
              <>
                <span class="soft">{kind}</span> {format(spent)}
              </>
            )}
          </List>
        </>
      )}
    </Section>
  );
}

function RecalledPanel({ recalled, total }: { recalled: Overview["recalled"]; total: number }): VNode {
  const since =
    recalled.since === null
      ? ""
      : ` since ${new Date(recalled.since).toLocaleDateString(undefined, { dateStyle: "medium" })}`;
  return (
    <Section title="Recalled">
      <Soft text={recalled.most.length === 0 ? NOTHING_RECALLED : `Most${since}`} />
      <Counts
        caption="Most recalled"
        counts={recalled.most.map((memory) => ({
          label: memory.name,
          count: memory.count,
          title: <MemoryLink memory={memory} />,
        }))}
      />
      {recalled.neverCount === 0 ? (
        <Soft text={total === 0 ? "" : "Every memory was recalled at least once."} />
      ) : (
        <>
          <h3>
            Never: {recalled.neverCount.toLocaleString()} <span class="soft">of {total.toLocaleString()}</span>
          </h3>
          <LinkRow
            memories={recalled.never}
            more={recalled.neverCount - recalled.never.length}
            href={formatRoute("memories", { sort: "recalled", reversed: true })}
          />
        </>
      )}
    </Section>
  );
}

function formatTokens(tokens: number): string {
  return tokens.toLocaleString();
}

function formatMonth(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return month;
  return at.toLocaleDateString(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
}

/** Background work costs small sums: a tenth of a cent is still shown. */
function formatCost(cost: number): string {
  const digits = cost > 0 && cost < 1 ? 4 : 2;
  return `$${cost.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}
