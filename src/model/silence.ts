/** Notices that a server has gone silent: the SDKs' timeouts end with the headers, and a stream may hang for ever after. */

export interface SilenceWatch {
  /** Aborted by the caller's signal and by silence. */
  signal: AbortSignal;
  /** Sees every byte that arrives, so that a provider's pings count as life. */
  fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
  wasSilent: () => boolean;
  close: () => void;
}

export function watchSilence(maxSilenceMs: number, signal?: AbortSignal): SilenceWatch {
  const own = new AbortController();
  let silent = false;
  const timer = setTimeout(() => {
    silent = true;
    own.abort();
  }, maxSilenceMs);
  const heard = () => {
    if (!silent) timer.refresh();
  };
  const giveUp = () => own.abort();
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  let open = true;

  return {
    signal: own.signal,
    wasSilent: () => silent,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (open) heard();
      if (!response.body) return response;
      const listening = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (open) heard();
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body.pipeThrough(listening), response);
    },
    close: () => {
      open = false;
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    },
  };
}
