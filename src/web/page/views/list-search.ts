/** Search as one types: a moment after the last key the server ranks, and only the last answer counts. */
import { useEffect, useState } from "preact/hooks";
import type { SearchAnswer } from "../../api.ts";
import { changes } from "../live.ts";
import { get } from "../remote.ts";
import { useStore } from "../store.ts";

/** Between two keys of a quick writer: what is typed in one go is asked once. */
const PAUSE_MS = 80;

export interface Ranking {
  /** Null: nobody has ranked yet. The last ranking stays until the next one is there, so that the list does not jump twice. */
  hits: SearchAnswer["hits"] | null;
  isSearching: boolean;
}

export function useRanking(q: string): Ranking {
  const words = q.trim();
  const version = useStore(changes);
  const [ranked, setRanked] = useState<{ q: string; hits: SearchAnswer["hits"] } | null>(null);
  useEffect(() => {
    if (words === "") {
      setRanked(null);
      return;
    }
    const calling = new AbortController();
    const waiting = setTimeout(async () => {
      const { value } = await get<SearchAnswer>("/api/search", { q: words }, calling.signal);
      if (calling.signal.aborted) return;
      setRanked(value === null ? null : { q: words, hits: value.hits });
    }, PAUSE_MS);
    return () => {
      clearTimeout(waiting);
      calling.abort();
    };
  }, [words, version]);
  if (words === "") return { hits: null, isSearching: false };
  return { hits: ranked?.hits ?? null, isSearching: ranked?.q !== words };
}
