/** One streamed exchange with a provider, whichever SDK carries it: watched for silence, and failure is a value. */

import type { AskAnswer, AskRequest, Usage } from "./ask.ts";
import { brokenOff, type Endpoint, errorOf, failed, notAModel } from "./failure.ts";
import { type SilenceWatch, watchSilence } from "./silence.ts";

/** What has been read of an answer so far. */
export interface Reading<Event> {
  take: (event: Event) => void;
  text: () => string;
  usage: () => Usage;
  /** The answer, or null while it is not whole. */
  answer: () => Extract<AskAnswer, { ok: true }> | null;
}

interface Exchange<Event> {
  endpoint: Endpoint;
  maxSilenceMs: number;
  request: AskRequest;
  reading: Reading<Event>;
  send: (watch: SilenceWatch) => Promise<{ data: AsyncIterable<Event>; response: Response }>;
}

/** Must not throw. */
export async function exchange<Event>(options: Exchange<Event>): Promise<AskAnswer> {
  const { endpoint, maxSilenceMs, request, reading, send } = options;
  const watch = watchSilence(maxSilenceMs, request.signal);
  const fail = (thrown: unknown) => {
    const aborted = request.signal?.aborted === true;
    const error = errorOf(thrown, endpoint, { aborted, silent: watch.wasSilent(), maxSilenceMs });
    return failed(error, reading.text(), reading.usage());
  };
  try {
    const { data, response } = await send(watch);
    let begun = false;
    for await (const event of data) {
      begun = true;
      reading.take(event);
    }
    const answer = reading.answer();
    if (answer) return answer;
    // The SDKs end an aborted stream as if it were complete.
    if (watch.signal.aborted) return fail(null);
    const isStream = /event-stream/.test(response.headers.get("content-type") ?? "");
    return failed(begun || isStream ? brokenOff(endpoint) : notAModel(endpoint), reading.text(), reading.usage());
  } catch (error) {
    return fail(error);
  } finally {
    watch.close();
  }
}
