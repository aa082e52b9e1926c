/**
 * The overview: how many memories there are, what to fix first, what fills the model's context, what it costs and what
 * was recalled.
 */
import type { ComponentChildren, VNode } from "preact";
import type { Overview, RotView } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { Bar, LinkButton, LinkRow, MemoryLink, type Tone } from "../parts/basics.tsx";
import { Columns, ContextBar, Counts } from "../parts/charts.tsx";
import { fillDays, formatCount } from "../parts/format.ts";
import { JobButton } from "../parts/jobs.tsx";
import { Empty, PageHead, Waiting } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { formatRoute } from "../router.ts";

/** Memories named next to an advice; the rest is counted. */
const NAMED = 6;

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<Overview>("/api/overview", { rot: false });
  const { value } = live;
  // With thousands of memories it takes seconds: everything else is shown first.
  const rot = useLive<RotView>(value === null ? null : "/api/rot").value;
  return (
    <>
      <PageHead title="Overview" lead={value === null ? undefined : sumUp(value)} />
      <Lines lines={useStart().warnings} tone="plain" />
      {value === null ? <Waiting live={live} /> : <Panels overview={value} rot={rot} />}
    </>
  );
}

function Panels({ overview, rot }: { overview: Overview; rot: RotView | null }): VNode {
  return (
    <div class="panels">
      {overview.total === 0 ? (
        <div class="panel-wide">
          <Empty title="No memories yet">
            <p>
              Memories come from your agents as they work, from <code>memdir save</code>, or from here.
            </p>
            <LinkButton kind="primary" href={formatRoute("memories")}>
              Go to the memories
            </LinkButton>
          </Empty>
        </div>
      ) : (
        <Numbers overview={overview} />
      )}
      <Panel title="Rot score" isWide>
        {rot === null ? <p class="waiting">Reading every memory…</p> : <Health rot={rot} total={overview.total} />}
      </Panel>
      <Panel title="What fills the model’s context at the start" isWide>
        <ContextBar parts={overview.context} />
      </Panel>
      <CostPanel cost={overview.cost} />
      <RecalledPanel recalled={overview.recalled} total={overview.total} />
    </div>
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
    <section class="panel panel-wide numbers" aria-label="Memories by type, scope and age">
      {Object.entries(counts).map(([key, all]) => (
        <div key={key}>
          <h2>By {key}</h2>
          <Counts caption={`Memories by ${key}`} counts={all.map(([label, count]) => countOf(label, count, key))} />
        </div>
      ))}
      <div>
        <h2>The index</h2>
        <IndexCap index={overview.index} />
      </div>
    </section>
  );
}

function IndexCap({ index }: { index: Overview["index"] }): VNode {
  const caps = [
    { what: "lines", used: index.lines, most: index.maxLines },
    { what: "characters", used: index.chars, most: index.maxChars },
  ];
  return (
    <div class="caps">
      {caps.map(({ what, used, most }) => (
        <div key={what}>
          <p>
            {used.toLocaleString()} <span class="soft">of {`${most.toLocaleString()} ${what}`}</span>
          </p>
          <Bar share={used / most} label={`${what}: ${used} of ${most}`} tone={toneOfShare(used / most)} />
        </div>
      ))}
      <p class="soft">
        {index.isCut
          ? "It is cut: the model does not see what comes after the limit unless it is recalled."
          : "All of it is shown to the model."}
      </p>
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

function Panel(props: { title: string; isWide?: boolean; children: ComponentChildren }): VNode {
  return (
    <section class={`panel${props.isWide ? " panel-wide" : ""}`} aria-label={props.title}>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function Health({ rot, total }: { rot: RotView; total: number }): VNode {
  const tone = rot.score >= 90 ? "good" : rot.score >= 70 ? "warn" : "bad";
  return (
    <div class="rot">
      <div class="rot-score">
        <p class={`figure tone-${tone}`}>
          {rot.score}
          <span class="soft"> of 100</span>
        </p>
        <Bar share={rot.score / 100} label={`${rot.score} of 100`} tone={tone} />
        <p class="soft">100 means nothing is wrong.</p>
        {total === 0 ? null : <JobButton kind="verify" title="Check all claims" busy="Checking claims…" />}
      </div>
      {rot.first.length === 0 ? (
        <p class="soft">{total === 0 ? "What to fix first appears here." : "Nothing to fix: no problems are known."}</p>
      ) : (
        <ol class="todo" aria-label="What to do first">
          {rot.first.map((item) => (
            <li key={item.title}>
              <h3>{item.title}</h3>
              <LinkRow memories={item.memories.slice(0, NAMED)} more={item.count - NAMED} />
              {item.todo === "" ? null : (
                <p class="soft small">
                  in a terminal: <code>{item.todo}</code>
                </p>
              )}
            </li>
          ))}
        </ol>
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
  return (
    <Panel title={`Background work in ${formatMonth(cost.month)}`}>
      {tokens === 0 && cost.total === 0 ? (
        <p class="soft">
          Nothing was spent this month. The cost of extraction, dreams and selection by a model appears here by day.
        </p>
      ) : (
        <>
          <p class="figure">
            {format(isPriced ? cost.total : tokens)}{" "}
            <span class="soft">{isPriced ? `· ${formatCount(tokens, "token")}` : "tokens"}</span>
          </p>
          <Columns
            label={`${what} of background work by day, ${format(isPriced ? cost.total : tokens)} in total`}
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
          {kinds.length === 0 ? null : (
            <dl class="pairs">
              {kinds.map(([kind, spent]) => (
                <div key={kind}>
                  <dt>{kind}</dt>
                  <dd>{format(spent)}</dd>
                </div>
              ))}
            </dl>
          )}
        </>
      )}
    </Panel>
  );
}

function RecalledPanel({ recalled, total }: { recalled: Overview["recalled"]; total: number }): VNode {
  const since =
    recalled.since === null
      ? ""
      : ` since ${new Date(recalled.since).toLocaleDateString(undefined, { dateStyle: "medium" })}`;
  return (
    <Panel title="Recalled">
      {recalled.most.length === 0 ? (
        <p class="soft">Nothing was recalled yet. The most recalled memories appear here with their counts.</p>
      ) : (
        <Counts
          caption={`Most${since}`}
          areNames
          counts={recalled.most.map((memory) => ({
            label: memory.name,
            count: memory.count,
            title: <MemoryLink memory={memory} />,
          }))}
        />
      )}
      {recalled.neverCount === 0 ? (
        <p class="soft">{total === 0 ? "" : "Every memory was recalled at least once."}</p>
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
    </Panel>
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
