/** All memories: searched as one types, filtered and sorted by every column. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { ListedMemory, MemoryList } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive } from "../live.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { Empty, Waiting } from "../parts/empty.tsx";
import { formatCount } from "../parts/format.ts";
import { PageHead } from "../parts/page-head.tsx";
import { useStart } from "../parts/start.ts";
import type { Query } from "../remote.ts";
import { amend, formatRoute, route } from "../router.ts";
import { AGES, type Asked, orderRows, readAsked, type Sort, VERDICTS } from "./list-order.ts";
import { type Ranking, useRanking } from "./list-search.ts";
import { COLUMNS, MemoryTable } from "./list-table.tsx";

/** Browsers refuse to change the address with every key. */
const ADDRESS_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<MemoryList>("/api/memories");
  const [q, setQ] = useState(params.get("q") ?? "");
  const ranking = useRanking(q);
  const { readOnly } = useStart();
  const asked = { ...readAsked(withWords(params, q)), q };
  useEffect(() => {
    if (q === (params.get("q") ?? "")) return;
    const waiting = setTimeout(() => amend({ q }), ADDRESS_MS);
    return () => clearTimeout(waiting);
  }, [q]);
  // Whoever goes on to a memory within that time finds their words when they come back.
  const keepWords = () => {
    if (route.get().view === "memories") amend({ q });
  };
  const all = live.value?.rows;
  const rows = useMemo(
    () => orderRows(all ?? [], asked, ranking.hits),
    [all, ranking.hits, q, asked.type, asked.scope, asked.verdict, asked.age, asked.sort, asked.isReversed],
  );
  const sortBy = (sort: Sort) =>
    amend(sort === asked.sort ? { sort, reversed: asked.isReversed ? null : true } : { sort, reversed: null });
  const clear = () => {
    setQ("");
    amend({ q: null, type: null, scope: null, verdict: null, age: null });
  };
  return (
    <>
      <PageHead title="Memories" lead={all === undefined ? undefined : saysCount(rows.length, all.length)}>
        {readOnly ? null : <LinkButton href={formatRoute("new")}>New memory</LinkButton>}
      </PageHead>
      <div class="list-tools">
        <SearchField q={q} onInput={setQ} onLeave={keepWords} wantsFocus={params.get("focus") === "search"} />
        <Filters rows={all ?? []} asked={asked} onSort={sortBy} />
      </div>
      {all === undefined ? (
        <Waiting live={live} />
      ) : rows.length === 0 ? (
        <NothingFound isEmpty={all.length === 0} ranking={ranking} onClear={clear} />
      ) : (
        <MemoryTable rows={rows} sort={asked.sort} isReversed={asked.isReversed} onSort={sortBy} />
      )}
      <Skipped skipped={live.value?.skipped ?? []} />
    </>
  );
}

interface SearchProps {
  q: string;
  onInput: (q: string) => void;
  onLeave: () => void;
  wantsFocus: boolean;
}

function SearchField(props: SearchProps): VNode {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const focus = (event?: KeyboardEvent) => {
    event?.preventDefault();
    input.current?.focus();
    input.current?.select();
  };
  useKeys({ "/": focus });
  useEffect(() => {
    if (!props.wantsFocus) return;
    // After the view's title has been given the focus. The wish is taken out of the address last: that ends this effect.
    const frame = requestAnimationFrame(() => {
      focus();
      amend({ focus: null });
    });
    return () => cancelAnimationFrame(frame);
  }, [props.wantsFocus]);
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (props.q === "") input.current?.blur();
      else props.onInput("");
    }
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      document.querySelector<HTMLElement>(".memories .entry a")?.focus();
      if (event.key === "Enter") document.querySelector<HTMLElement>(".memories .entry a")?.click();
    }
  };
  return (
    <search class="list-search">
      <label class="hidden" for={id}>
        Search the memories
      </label>
      <input
        ref={input}
        id={id}
        type="search"
        dir="auto"
        placeholder="Search…  /"
        autocomplete="off"
        spellcheck={false}
        value={props.q}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onKeyDown={press}
        onBlur={props.onLeave}
      />
    </search>
  );
}

function Filters({ rows, asked, onSort }: { rows: ListedMemory[]; asked: Asked; onSort: (sort: Sort) => void }): VNode {
  const scopes = useMemo(() => [...new Set(rows.map((row) => row.scope))].sort(), [rows]);
  return (
    <div class="filters">
      <Choice label="Type" value={asked.type} any="Any type" name="type">
        {["user", "feedback", "project", "reference"]}
      </Choice>
      <Choice label="Scope" value={asked.scope} any="Any scope" name="scope">
        {scopes}
      </Choice>
      <Choice label="Verdict" value={asked.verdict} any="Any verdict" name="verdict">
        {VERDICTS}
      </Choice>
      <Choice label="Age" value={asked.age} any="Any age" name="age">
        {AGES.map((age) => age.label)}
      </Choice>
      <SortChoice asked={asked} onSort={onSort} />
    </div>
  );
}

function Choice(props: { label: string; value: string; any: string; name: string; children: string[] }): VNode {
  const id = useId();
  // What the address asks for is shown, even where no memory has it.
  const options = props.children.includes(props.value) ? props.children : [props.value, ...props.children];
  const change = (event: { currentTarget: HTMLSelectElement }) =>
    amend({ [props.name]: event.currentTarget.value } satisfies Query);
  return (
    <span class={props.value === "" ? "choice" : "choice is-set"}>
      <label class="hidden" for={id}>
        {props.label}
      </label>
      <select id={id} value={props.value} onChange={change}>
        <option value="">{props.any}</option>
        {options
          .filter((option) => option !== "")
          .map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
      </select>
    </span>
  );
}

/** Where the table has no head: on a narrow screen. */
function SortChoice({ asked, onSort }: { asked: Asked; onSort: (sort: Sort) => void }): VNode {
  const id = useId();
  const change = (event: { currentTarget: HTMLSelectElement }) => onSort(event.currentTarget.value as Sort);
  return (
    <span class="choice sort-choice">
      <label class="hidden" for={id}>
        Sort by
      </label>
      <select id={id} value={asked.sort} onChange={change}>
        {asked.q === "" ? null : <option value="rank">By rank</option>}
        {COLUMNS.map(([sort, title]) => (
          <option key={sort} value={sort}>
            By {sort === "name" ? "name" : title.toLowerCase()}
          </option>
        ))}
      </select>
    </span>
  );
}

function NothingFound(props: { isEmpty: boolean; ranking: Ranking; onClear: () => void }): VNode {
  if (props.isEmpty)
    return (
      <Empty title="No memories yet">
        <p>
          Agents write them while they work. You can write one yourself: <code>memdir save</code>, or tell an agent to
          remember something.
        </p>
      </Empty>
    );
  if (props.ranking.isSearching) return <p class="waiting">Searching…</p>;
  return (
    <Empty title="Nothing matches">
      <p>No memory fits these words and filters.</p>
      <Button onClick={props.onClear}>Show all memories</Button>
    </Empty>
  );
}

function Skipped({ skipped }: { skipped: MemoryList["skipped"] }): ComponentChildren {
  if (skipped.length === 0) return null;
  return (
    <details class="skipped">
      <summary>{formatCount(skipped.length, "file is", "files are")} no memory</summary>
      <ul>
        {skipped.map(({ path, reason }) => (
          <li key={path}>
            <code dir="auto">{path}</code> <span class="soft">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function saysCount(shown: number, all: number): VNode {
  return (
    <span role="status">
      {shown === all ? formatCount(all, "memory", "memories") : `${shown.toLocaleString()} of ${all.toLocaleString()}`}
    </span>
  );
}

function withWords(params: URLSearchParams, q: string): URLSearchParams {
  const changed = new URLSearchParams(params);
  changed.set("q", q);
  return changed;
}
