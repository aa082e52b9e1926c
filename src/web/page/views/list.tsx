/** All memories: searched while typing, filtered and sorted by every column. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { AGES, type ListedMemory, MEMORY_TYPES, type MemoryList, type SearchAnswer } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { changes, useLive, useStart } from "../live.ts";
import { Button, LinkButton } from "../parts/basics.tsx";
import { formatCount } from "../parts/format.ts";
import { Empty, PageHead, Waiting } from "../parts/layout.tsx";
import { get } from "../remote.ts";
import { amend, formatRoute, route } from "../router.ts";
import { useStore } from "../store.ts";
import { type Asked, orderRows, readAsked, type Sort, VERDICTS } from "./list-order.ts";
import { COLUMNS, MemoryTable } from "./list-table.tsx";

/** Browsers refuse to change the address with every keystroke. */
const ADDRESS_MS = 300;

export function View({ params }: { params: URLSearchParams }): VNode {
  const live = useLive<MemoryList>("/api/memories");
  const [q, setQ] = useState(params.get("q") ?? "");
  const ranking = useRanking(q);
  const { readOnly } = useStart();
  const asked = readAsked(params, q);
  useEffect(() => {
    if (q === (params.get("q") ?? "")) return;
    const waiting = setTimeout(() => amend({ q }), ADDRESS_MS);
    return () => clearTimeout(waiting);
  }, [q]);
  // A person who opens a memory within that time finds their query when they come back.
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

/** The gap between two keys of a fast typist, so that a burst is searched once. */
const PAUSE_MS = 60;
/** After the last key: finding the meaning of words takes the server longer than a keystroke. */
const REST_MS = 300;

interface Ranking {
  /** Null: not ranked yet. The last ranking stays until the next one arrives, so that the list does not jump twice. */
  hits: SearchAnswer["hits"] | null;
  isSearching: boolean;
}

/** With every key by the words alone, and by the real ranking after the last one. */
function useRanking(q: string): Ranking {
  const words = q.trim();
  const version = useStore(changes);
  const [ranked, setRanked] = useState<{ q: string; hits: SearchAnswer["hits"] } | null>(null);
  useEffect(() => {
    if (words === "") {
      setRanked(null);
      return;
    }
    const calling = new AbortController();
    let isRanked = false;
    const ask = async (quick: boolean) => {
      const { value } = await get<SearchAnswer>("/api/search", { q: words, quick: quick || null }, calling.signal);
      if (calling.signal.aborted || (quick && isRanked)) return;
      isRanked ||= !quick;
      setRanked(value === null ? null : { q: words, hits: value.hits });
    };
    const waiting = [setTimeout(() => void ask(true), PAUSE_MS), setTimeout(() => void ask(false), REST_MS)];
    return () => {
      for (const each of waiting) clearTimeout(each);
      calling.abort();
    };
  }, [words, version]);
  if (words === "") return { hits: null, isSearching: false };
  return { hits: ranked?.hits ?? null, isSearching: ranked?.q !== words };
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
      const first = document.querySelector<HTMLElement>(".memories .entry a");
      first?.focus();
      if (event.key === "Enter") first?.click();
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
  const ages = AGES.map(({ label }) => label);
  const filters = { type: MEMORY_TYPES, scope: scopes, verdict: VERDICTS, age: ages };
  const sorts = COLUMNS.map(([sort, title]): Option => [sort, `By ${sort === "name" ? "name" : title.toLowerCase()}`]);
  return (
    <div class="filters">
      {Object.entries(filters).map(([name, known]) => {
        const value = asked[name as keyof typeof filters];
        // The filter in the address is shown, even if no memory matches it.
        const options = value === "" || known.some((each) => each === value) ? known : [value, ...known];
        return (
          <Choice
            key={name}
            label={name.replace(/^./, (first) => first.toUpperCase())}
            value={value}
            options={[["", `Any ${name}`], ...options.map((option): Option => [option, option])]}
            class={value === "" ? "" : "is-set"}
            onChange={(chosen) => amend({ [name]: chosen })}
          />
        );
      })}
      {/* Where the table has no head: on a narrow screen. */}
      <Choice
        label="Sort by"
        value={asked.sort}
        options={asked.q === "" ? sorts : [["rank", "By rank"], ...sorts]}
        class="sort-choice"
        onChange={(sort) => onSort(sort as Sort)}
      />
    </div>
  );
}

type Option = [value: string, title: string];

interface ChoiceProps {
  label: string;
  value: string;
  options: Option[];
  class: string;
  onChange: (value: string) => void;
}

function Choice(props: ChoiceProps): VNode {
  const id = useId();
  return (
    <span class={`choice ${props.class}`.trim()}>
      <label class="hidden" for={id}>
        {props.label}
      </label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
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
          Agents write memories while they work. You can write one yourself with <code>memdir save</code>, or tell an
          agent to remember something.
        </p>
      </Empty>
    );
  if (props.ranking.isSearching) return <p class="waiting">Searching…</p>;
  return (
    <Empty title="Nothing matches">
      <p>No memory matches this search and these filters.</p>
      <Button onClick={props.onClear}>Show all memories</Button>
    </Empty>
  );
}

function Skipped({ skipped }: { skipped: MemoryList["skipped"] }): ComponentChildren {
  if (skipped.length === 0) return null;
  return (
    <details class="skipped small">
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
