/** All memories: searched while typing, filtered, sorted, a page at a time; several can be changed at once. */
import type { TargetedKeyboardEvent, VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { type BulkAnswer, FILTERS, type Filter, type MemoryList, type Sort } from "../../api.ts";
import { useCommands, useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Button, Field, List } from "../parts/basics.tsx";
import { tellChanged } from "../parts/change.ts";
import { formatCount, keyOf, toggle } from "../parts/format.ts";
import { useAsked, useBusy } from "../parts/hooks.ts";
import { Empty, Loading, Modes, PageHead, SearchField } from "../parts/layout.tsx";
import { Failed, tell, told } from "../parts/notice.tsx";
import { get, type Query, send } from "../remote.ts";
import { amend, formatRoute } from "../router.ts";
import { COLUMNS, MemoryTable, PAGE } from "./list-table.tsx";
import { MapView } from "./map.tsx";

export function ListView({ params }: { params: URLSearchParams }): VNode {
  return params.get("as") === "map" ? <MapView params={params} modes={MODES} /> : <Rows params={params} />;
}

const MODES = <Modes label="How memories are shown" view="memories" by="as" modes={{ List: null, Map: "map" }} />;

/** After the last key: finding the meaning of words takes the server longer than a keystroke. */
const REST_MS = 300;

function Rows({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked: rested } = useAsked(params, "q", REST_MS);
  const q = typed.trim();
  const { readOnly } = useStart();
  const query: Query = { q, quick: q !== rested || null, sort: params.get("sort"), reversed: params.get("reversed") };
  for (const name of FILTERS) query[name] = params.get(name);
  const live = useLive<MemoryList>("/api/memories", { ...query, limit: PAGE }, { isSteady: true });
  const list = live.value;
  useEffect(() => {
    if (list?.isEarly) live.reload();
  }, [list]);
  const [selected, turn, selection] = useSelection(query, list?.found ?? 0);
  const sort = (params.get("sort") ?? (q === "" ? "age" : "rank")) as Sort;
  const isReversed = params.get("reversed") === "true";
  const sortBy = (next: Sort) => amend({ sort: next, reversed: (next === sort && !isReversed) || null });
  const clear = () => amend({ q: null, ...Object.fromEntries(FILTERS.map((name) => [name, null])) });
  const press = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      if (typed === "") event.currentTarget.blur();
      else setTyped("");
    }
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      const first = document.querySelector<HTMLElement>(".memories .entry a");
      first?.focus();
      if (event.key === "Enter") first?.click();
    }
  };
  const isFiltered = FILTERS.some((name) => params.has(name));
  return (
    <>
      <PageHead title="Memories" lead={list === null ? undefined : saysCount(list)}>
        {MODES}
        {readOnly ? null : <Button text="New memory" kind="primary" href={formatRoute("new")} />}
      </PageHead>
      <div class="row list-tools">
        <SearchField
          label="Search the memories"
          placeholder="Search…  /"
          class="list-search"
          q={typed}
          onInput={setTyped}
          onKeyDown={press}
          wantsFocus={params.get("focus") === "search"}
        />
        {FILTERS.map((name) => (
          <FilterMenu key={name} name={name} chosen={params.get(name) ?? ""} facet={list?.facets[name] ?? []} />
        ))}
        {isFiltered ? <Button isSmall kind="quiet" text="Clear filters" onClick={clear} /> : null}
        <Field
          label="Sort by"
          isBare
          fieldClass="only-narrow"
          value={sort}
          options={[...(q === "" ? [] : [["rank", "By rank"] as const]), ...SORTS_NARROW]}
          onInput={(next) => sortBy(next as Sort)}
        />
      </div>
      <Failed failure={live.failure?.status === 0 ? null : live.failure} />
      {list === null ? (
        <Loading />
      ) : list.total === 0 ? (
        NO_MEMORY
      ) : list.found === 0 ? (
        <Empty title="Nothing matches" text="No memory matches this search and these filters.">
          <Button text="Show all memories" onClick={clear} />
        </Empty>
      ) : (
        <MemoryTable
          {...{ query, list, sort, isReversed, selected, q }}
          onSort={sortBy}
          onSelect={readOnly ? null : turn}
        />
      )}
      <Skipped skipped={list?.skipped ?? []} />
      {selection}
    </>
  );
}

const NO_MEMORY = (
  <Empty title="No memories yet" text="Agents write memories while they work. You can write the first one yourself.">
    <Button text="Write a memory" href={formatRoute("new")} />
  </Empty>
);

const SORTS_NARROW = COLUMNS.map(({ sort, title }) => [sort, `By ${title.toLowerCase()}`] as const);

interface FilterProps {
  name: Filter;
  /** As the address has it: values joined by commas. */
  chosen: string;
  facet: MemoryList["facets"][Filter];
}

/** A menu of values with how many memories each would show; several can be chosen. */
function FilterMenu({ name, chosen, facet }: FilterProps): VNode | null {
  const id = useId();
  const values = chosen === "" ? [] : chosen.split(",");
  // A filter in the address is shown, even if no memory matches it; one with a single value filters nothing.
  const missing = values.filter((value) => !facet.some((each) => each.value === value));
  const all = [...facet, ...missing.map((value) => ({ value, count: 0 }))];
  if (all.length < 2 && values.length === 0) return null;
  const turn = (value: string) => amend({ [name]: toggle(values, value).join(",") });
  const title = name.replace(/^./, (first) => first.toUpperCase());
  return (
    <div class={`filter${values.length > 0 ? " is-set" : ""}`}>
      <button type="button" class="button button-small" style={{ maxWidth: "20rem" }} popoverTarget={id}>
        {title}
        {values.length > 0 ? `: ${values.join(", ")}` : ""} <span aria-hidden="true">▾</span>
      </button>
      <fieldset id={id} popover="auto" class="plain-set filter-menu card">
        <legend class="hidden">{title}</legend>
        {all.map(({ value, count }) => (
          <label key={value} class="row">
            <input type="checkbox" checked={values.includes(value)} onChange={() => turn(value)} />
            <span class="grow" dir="auto">
              {value}
            </span>
            <span class="soft number">{count.toLocaleString()}</span>
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** As many as the server lists at once. */
const MOST_SELECTED = 500;

/** Which memories are selected, and what can be done with them. */
function useSelection(query: Query, found: number) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, run] = useBusy();
  const clear = () => setSelected(new Set());
  useKeys(selected.size === 0 ? {} : { Escape: clear });
  const turn = (key: string) => setSelected(new Set(toggle(selected, key)));
  const forget = async () => {
    const done = await run(told(send<BulkAnswer>("POST", "/api/bulk", { action: "forget", memories: [...selected] })));
    if (done === null) return;
    clear();
    tellChanged(done.message, done.entries);
  };
  const all = async () => {
    const list = await run(told(get<MemoryList>("/api/memories", { ...query, limit: MOST_SELECTED })));
    if (list === null) return;
    setSelected(new Set(list.rows.filter(({ isReadOnly }) => !isReadOnly).map(keyOf)));
    if (list.found > MOST_SELECTED) tell(`The first ${MOST_SELECTED} are selected.`);
  };
  useCommands([{ title: "Select all memories of this list", run: all }]);
  const bar =
    selected.size === 0 ? null : (
      <section class="selection row" aria-label="Selected memories">
        <strong role="status">{selected.size.toLocaleString()} selected</strong>
        {selected.size < found ? <Button isSmall text={`Select all ${found.toLocaleString()}`} onClick={all} /> : null}
        <Button isSmall kind="danger" text="Forget" isBusy={isBusy} onClick={forget} />
        <Button isSmall kind="quiet" text="Clear" onClick={clear} />
      </section>
    );
  return [selected, turn, bar] as const;
}

function Skipped({ skipped }: { skipped: MemoryList["skipped"] }): VNode | null {
  if (skipped.length === 0) return null;
  return (
    <details class="stack-xs small">
      <summary>{formatCount(skipped.length, "file is", "files are")} no memory</summary>
      <List rows={skipped}>
        {({ path, reason }) => (
          <>
            <code dir="auto">{path}</code> <span class="soft">{reason}</span>
          </>
        )}
      </List>
    </details>
  );
}

function saysCount({ found, total }: MemoryList): VNode {
  const all = formatCount(total, "memory", "memories");
  return <span role="status">{found === total ? all : `${found.toLocaleString()} of ${all}`}</span>;
}
