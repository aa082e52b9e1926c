/** The overview's panels: what rots, what background work costs, what was recalled. */
import type { ComponentChildren, VNode } from "preact";
import type { MemoryTitle, Overview, RotView } from "../../api.ts";
import { Bar } from "../parts/bar.tsx";
import { Columns } from "../parts/charts.tsx";
import { type Column, fillDays } from "../parts/days.ts";
import { formatCount } from "../parts/format.ts";
import { JobButton } from "../parts/job-button.tsx";
import { MemoryLink } from "../parts/memory-link.tsx";
import { formatRoute } from "../router.ts";

/** Memories named beside an advice; the rest is counted. */
const NAMED = 6;

export function Panel({
  title,
  isWide,
  children,
}: {
  title: string;
  isWide?: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    <section class={`panel${isWide ? " panel-wide" : ""}`} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function RotPanel({ rot, total }: { rot: RotView | null; total: number }): VNode {
  return (
    <Panel title="Rot score" isWide>
      {rot === null ? <p class="waiting">Reading every memory…</p> : <Health rot={rot} total={total} />}
    </Panel>
  );
}

function Health({ rot, total }: { rot: RotView; total: number }): VNode {
  const tone = rot.score >= 90 ? "good" : rot.score >= 70 ? "warn" : "bad";
  return (
    <div class="rot">
      <div class="rot-score">
        <p class={`figure figure-${tone}`}>
          {rot.score}
          <span class="soft"> of 100</span>
        </p>
        <Bar share={rot.score / 100} label={`${rot.score} of 100`} tone={tone} />
        <p class="soft">At 100 nothing rots.</p>
        {total === 0 ? null : <JobButton kind="verify" title="Check all claims" busy="Checking claims…" />}
      </div>
      {rot.first.length === 0 ? (
        <p class="soft">
          {total === 0 ? "What to mend first will stand here." : "Nothing to mend: no memory is known to be doubtful."}
        </p>
      ) : (
        <ol class="todo" aria-label="What to do first">
          {rot.first.map((item) => (
            <li key={item.title}>
              <h3>{item.title}</h3>
              <LinkRow memories={item.memories.slice(0, NAMED)} more={item.count - NAMED} />
              {item.todo === "" ? null : (
                <p class="soft">
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

export function CostPanel({ cost }: { cost: Overview["cost"] }): VNode {
  const unpriced = cost.unpriced ?? [];
  const tokens = cost.byDay.reduce((sum, day) => sum + day.tokens, 0);
  // What has no price cost something all the same: then what is known is shown, the tokens.
  const isPriced = cost.total > 0 || unpriced.length === 0;
  const format = isPriced ? formatCost : formatTokens;
  const days: Column[] = cost.byDay.map((day) => ({ day: day.day, values: [isPriced ? day.cost : day.tokens] }));
  const kinds = Object.entries(isPriced ? cost.byKind : cost.tokensByKind).filter(([, spent]) => spent > 0);
  const what = isPriced ? "Cost" : "Tokens";
  return (
    <Panel title={`Background work in ${formatMonth(cost.month)}`}>
      {tokens === 0 && cost.total === 0 ? (
        <p class="soft">
          Nothing was spent this month. What extraction, dreams and choosing by a model cost will stand here, day by
          day.
        </p>
      ) : (
        <>
          <p class="figure">
            {format(isPriced ? cost.total : tokens)}{" "}
            <span class="soft">{isPriced ? `· ${formatCount(tokens, "token")}` : "tokens"}</span>
          </p>
          <Columns
            label={`${what} of background work by day, ${format(isPriced ? cost.total : tokens)} in all`}
            columns={fillDays(days, 1, `${cost.month}-01`)}
            kinds={[{ title: what, class: "fill-1" }]}
            format={format}
          />
          {unpriced.length === 0 ? null : (
            <p class="soft">
              {isPriced ? "Not in this sum, since their price is not known" : "The price is not known"}:{" "}
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

export function RecalledPanel({ recalled, total }: { recalled: Overview["recalled"]; total: number }): VNode {
  const since =
    recalled.since === null
      ? ""
      : ` since ${new Date(recalled.since).toLocaleDateString(undefined, { dateStyle: "medium" })}`;
  const most = Math.max(1, ...recalled.most.map(({ count }) => count));
  return (
    <Panel title="Recalled">
      {recalled.most.length === 0 ? (
        <p class="soft">Nothing was recalled yet. The memories that help most will stand here, with how often.</p>
      ) : (
        <table class="counts counts-names">
          <caption>Most{since}</caption>
          <tbody>
            {recalled.most.map((memory) => (
              <tr key={`${memory.directory}/${memory.file}`}>
                <th scope="row">
                  <MemoryLink memory={memory} />
                </th>
                <td class="counts-bar" aria-hidden="true">
                  <Bar share={memory.count / most} label={memory.name} tone="plain" />
                </td>
                <td class="number">{memory.count.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
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

interface LinkRowProps {
  memories: MemoryTitle[];
  /** How many are not named. */
  more: number;
  /** Where they are found. */
  href?: string;
}

function LinkRow({ memories, more, href }: LinkRowProps): VNode | null {
  if (memories.length === 0) return null;
  return (
    <ul class="link-row">
      {memories.map((memory) => (
        <li key={`${memory.directory}/${memory.file}`}>
          <MemoryLink memory={memory} />
        </li>
      ))}
      {more > 0 ? (
        <li class="soft">
          {href === undefined ? (
            `and ${more.toLocaleString()} more`
          ) : (
            <a href={href}>and {more.toLocaleString()} more</a>
          )}
        </li>
      ) : null}
    </ul>
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

/** Small sums are what background work costs: a tenth of a cent is still seen. */
function formatCost(cost: number): string {
  const digits = cost > 0 && cost < 1 ? 4 : 2;
  return `$${cost.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}
