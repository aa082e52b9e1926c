/** Past conversations: searched, and one of them read. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionList, SessionRow, SessionView } from "../../api.ts";
import { useLive } from "../live.ts";
import { Age, Button } from "../parts/basics.tsx";
import { formatCount, formatMoment } from "../parts/format.ts";
import { useFirst, useLast, useLater } from "../parts/hooks.ts";
import { Empty, PageHead, Waiting } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { amend, formatRoute } from "../router.ts";

const PAUSE_MS = 250;
/** Rows and messages at first; the rest comes on demand, so that a long conversation opens at once. */
const ROWS_SHOWN = 60;
const MESSAGES_SHOWN = 150;
/** About two screens: longer messages are folded. */
const LONG_CHARS = 3000;

const CUT = "This conversation is too long to show completely; its end is omitted.";
const SPEAKERS = { user: "User", assistant: "Agent", tool: "Tool", note: "Note" };

export function View({ params }: { params: URLSearchParams }): VNode {
  const id = params.get("id");
  return id === null ? <Search params={params} /> : <Conversation key={id} id={id} q={params.get("q") ?? ""} />;
}

function Search({ params }: { params: URLSearchParams }): VNode {
  const [q, setQ] = useState(params.get("q") ?? "");
  const [asked] = useLater(q.trim(), PAUSE_MS);
  const live = useLive<SessionList>("/api/sessions", { q: asked });
  const all = useLast(live.value)?.sessions ?? null;
  const [shown, more] = useFirst(all ?? [], ROWS_SHOWN, 200);
  useEffect(() => {
    if ((params.get("q") ?? "") !== asked) amend({ q: asked });
  }, [asked]);
  return (
    <>
      <PageHead title="Sessions" lead="Past conversations of this project." />
      <search class="field">
        <label for="session-search">Search conversations</label>
        <input
          id="session-search"
          type="search"
          class="wide"
          dir="auto"
          autocomplete="off"
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </search>
      {all === null ? (
        <Waiting live={live} />
      ) : all.length === 0 ? (
        <Empty title={asked === "" ? "No conversations yet" : `No conversation contains “${asked}”`}>
          {asked === "" ? <p>Conversations with agents in this project appear here, newest first.</p> : null}
        </Empty>
      ) : (
        <>
          <p class="hidden" role="status">
            {formatCount(all.length, "conversation")}
          </p>
          <ul class="sessions">
            {shown.map((row) => (
              <Row key={row.id} row={row} q={asked} />
            ))}
          </ul>
          {more === null ? null : <Button onClick={more}>{`Show more of ${all.length.toLocaleString()}`}</Button>}
        </>
      )}
    </>
  );
}

function Row({ row, q }: { row: SessionRow; q: string }): VNode {
  return (
    <li class="session">
      <h2>
        <a href={formatRoute("sessions", { id: row.id, q })} dir="auto">
          {row.title || "Untitled"}
        </a>
      </h2>
      <p class="soft small">
        <Age at={row.at} /> · {formatCount(row.messages, "message")}
      </p>
      {row.excerpt === null || row.excerpt === "" ? null : (
        <p class="excerpt" dir="auto">
          <Marked text={row.excerpt} q={q} />
        </p>
      )}
    </li>
  );
}

function Conversation({ id, q }: { id: string; q: string }): VNode {
  const live = useLive<SessionView>("/api/session", { id });
  const [hasTools, setHasTools] = useState(false);
  const session = live.value;
  const messages = session?.messages.filter(({ role }) => hasTools || role === "user" || role === "assistant") ?? [];
  const [shown, more] = useFirst(messages, MESSAGES_SHOWN, MESSAGES_SHOWN);
  const hidden = (session?.messages.length ?? 0) - messages.length;
  return (
    <>
      <p>
        <a href={formatRoute("sessions", { q })}>← All sessions</a>
      </p>
      <PageHead
        title={session?.row.title || "Session"}
        lead={
          session === null
            ? undefined
            : `${formatMoment(session.row.at)} · ${formatCount(session.row.messages, "message")}`
        }
      >
        {hidden > 0 || hasTools ? (
          <Button isPressed={hasTools} onClick={() => setHasTools(!hasTools)}>
            {hasTools ? "With tools and notes" : `Show ${formatCount(hidden, "message")} from tools and notes`}
          </Button>
        ) : null}
      </PageHead>
      {session === null ? (
        <Waiting live={live} />
      ) : (
        <>
          {session.isCut ? <Lines tone="plain" lines={[CUT]} /> : null}
          {messages.length === 0 ? <Empty title="This conversation is empty" /> : null}
          <ol class="talk">
            {shown.map((message, at) => (
              <Message key={at} message={message} q={q} />
            ))}
          </ol>
          {more === null ? null : <Button onClick={more}>{`Show more of ${messages.length.toLocaleString()}`}</Button>}
        </>
      )}
    </>
  );
}

function Message({ message, q }: { message: SessionView["messages"][number]; q: string }): VNode {
  const { role, at, text } = message;
  const isLong = text.length > LONG_CHARS;
  const [isOpen, setOpen] = useState(false);
  const shown = isLong && !isOpen ? `${text.slice(0, LONG_CHARS)}…` : text;
  return (
    <li class={`message-of message-${role}`}>
      <p class="small">
        <strong>{SPEAKERS[role]}</strong>{" "}
        {at === null ? null : (
          <time class="soft" dateTime={at}>
            {formatMoment(at)}
          </time>
        )}
      </p>
      <div class="said" dir="auto">
        <Marked text={shown} q={q} />
      </div>
      {isLong ? (
        <Button isSmall onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Fold" : `Show all ${text.length.toLocaleString()} characters`}
        </Button>
      ) : null}
    </li>
  );
}

/** The text with the words that were searched marked in it. */
function Marked({ text, q }: { text: string; q: string }): VNode {
  const words = q.split(/\s+/).filter((word) => word.length > 1);
  if (words.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return <>{text.split(pattern).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}
