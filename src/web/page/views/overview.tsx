/** The overview: how much is remembered, what it costs the model's context and the purse, and what to do first. */
import type { VNode } from "preact";
import type { Overview, RotView } from "../../api.ts";
import { useLive } from "../live.ts";
import { Bar, type Tone } from "../parts/bar.tsx";
import { Counts } from "../parts/charts.tsx";
import { ContextBar } from "../parts/context-bar.tsx";
import { Empty, Waiting } from "../parts/empty.tsx";
import { formatCount } from "../parts/format.ts";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useStart } from "../parts/start.ts";
import { formatRoute } from "../router.ts";
import { CostPanel, Panel, RecalledPanel, RotPanel } from "./overview-panels.tsx";

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<Overview>("/api/overview", { rot: false });
  const { value } = live;
  // Of thousands it takes seconds: everything else stands there by then.
  const rot = useLive<RotView>(value === null ? null : "/api/rot").value;
  return (
    <>
      <PageHead title="Overview" lead={value === null ? undefined : sumUp(value)} />
      <Warnings />
      {value === null ? <Waiting live={live} /> : <Panels overview={value} rot={rot} />}
    </>
  );
}

/** What was said at the start in the terminal, where nobody looks any more. */
function Warnings(): VNode | null {
  const { warnings } = useStart();
  if (warnings.length === 0) return null;
  return (
    <Notice>
      {warnings.map((warning) => (
        <p key={warning} dir="auto">
          {warning}
        </p>
      ))}
    </Notice>
  );
}

function Panels({ overview, rot }: { overview: Overview; rot: RotView | null }): VNode {
  return (
    <div class="panels">
      {overview.total === 0 ? (
        <div class="panel-wide">
          <Empty title="Nothing is remembered yet">
            <p>
              Memories come from your agents as they work, from <code>memdir save</code>, or from here.
            </p>
            <a class="button button-primary" href={formatRoute("memories")}>
              To the memories
            </a>
          </Empty>
        </div>
      ) : (
        <Numbers overview={overview} />
      )}
      <RotPanel rot={rot} total={overview.total} />
      <Panel title="What fills the model’s context at the start" isWide>
        <ContextBar parts={overview.context} />
      </Panel>
      <CostPanel cost={overview.cost} />
      <RecalledPanel recalled={overview.recalled} total={overview.total} />
    </div>
  );
}

function Numbers({ overview }: { overview: Overview }): VNode {
  const types = Object.entries(overview.byType).map(([label, count]) => ({
    label,
    count,
    dot: `type-${label}`,
    href: formatRoute("memories", { type: label }),
  }));
  const ages = overview.byAge.map(({ label, count }) => ({
    label,
    count,
    ...(count > 0 && { href: formatRoute("memories", { age: label }) }),
  }));
  const scopes = Object.entries(overview.byScope).map(([label, count]) => ({
    label,
    count,
    href: formatRoute("memories", { scope: label }),
  }));
  return (
    <section class="panel panel-wide numbers" aria-label="Memories by type, scope and age">
      <div>
        <h2>By type</h2>
        <Counts label="Memories by type" counts={types} />
      </div>
      <div>
        <h2>By scope</h2>
        <Counts label="Memories by scope" counts={scopes} />
      </div>
      <div>
        <h2>By age</h2>
        <Counts label="Memories by age" counts={ages} />
      </div>
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
          ? "It is cut: what comes after the cap is not shown to the model until it is recalled."
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
