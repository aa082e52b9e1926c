/** Past conversations: searched, and one of them read. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { SessionList, SessionRow, SessionView } from "../../api.ts";
import { useLive } from "../live.ts";
import { Age, Button, Field, List } from "../parts/basics.tsx";
import { formatCount, formatMoment } from "../parts/format.ts";
import { useAsked, useLast } from "../parts/hooks.ts";
import { Answered, Empty, PageHead } from "../parts/layout.tsx";
import { Lines } from "../parts/notice.tsx";
import { formatRoute } from "../router.ts";

const PAUSE_MS = 250;
/** Rows and messages at first; the rest comes on demand, so that a long conversation opens at once. */
const ROWS_SHOWN = 60;
const MESSAGES_SHOWN = 150;
/** About two screens: longer messages are folded. */
const LONG_CHARS = 3000;

const CUT = "This conversation is too long to show completely; its end is omitted.";
const NONE = "Conversations with agents in this project appear here, newest first.";
const SPEAKERS = { user: "User", assistant: "Agent", tool: "Tool", note: "Note" };

export function View({ params }: { params: URLSearchParams }): VNode {
  const id = params.get("id");
  return id === null ? <Search params={params} /> : <Conversation key={id} id={id} q={params.get("q") ?? ""} />;
}

function Search({ params }: { params: URLSearchParams }): VNode {
  const { typed, setTyped, asked } = useAsked(params, "q", PAUSE_MS);
  const live = useLive<SessionList>("/api/sessions", { q: asked });
  const last = useLast(live.value);
  return (
    <>
      <PageHead title="Sessions" lead="Past conversations of this project." />
      <search>
        <Field label="Search conversations" type="search" autocomplete="off" value={typed} onInput={setTyped} />
      </search>
      <Answered live={{ ...live, value: last }}>
        {({ sessions }) =>
          sessions.length > 0 ? (
            <>
              <p class="hidden" role="status" children={formatCount(sessions.length, "conversation")} />
              <List class="ruled" item="session" rows={sessions} keyOf={({ id }) => id} first={ROWS_SHOWN}>
                {(row) => <Row row={row} q={asked} />}
              </List>
            </>
          ) : asked === "" ? (
            <Empty title="No conversations yet" text={NONE} />
          ) : (
            <Empty title={`No conversation contains “${asked}”`} />
          )
        }
      </Answered>
    </>
  );
}

function Row({ row, q }: { row: SessionRow; q: string }): VNode {
  return (
    <>
      <h2>
        <a href={formatRoute("sessions", { id: row.id, q })} dir="auto" children={row.title || "Untitled"} />
      </h2>
      <p class="soft small">
        <Age at={row.at} /> · {formatCount(row.messages, "message")}
      </p>
      <p class="excerpt" dir="auto" children={<Marked text={row.excerpt ?? ""} q={q} />} />
    </>
  );
}

function Conversation({ id, q }: { id: string; q: string }): VNode {
  const live = useLive<SessionView>("/api/session", { id });
  const [hasTools, setHasTools] = useState(false);
  const { row, messages: all = [], isCut } = live.value ?? {};
  const messages = all.filter(({ role }) => hasTools || role === "user" || role === "assistant");
  const hidden = all.length - messages.length;
  const lead = row && `${formatMoment(row.at)} · ${formatCount(row.messages, "message")}`;
  return (
    <>
      <p>
        <a href={formatRoute("sessions", { q })}>← All sessions</a>
      </p>
      <PageHead title={row?.title || "Session"} lead={lead}>
        {hidden > 0 || hasTools ? (
          <Button
            text={hasTools ? "With tools and notes" : `Show ${formatCount(hidden, "message")} from tools and notes`}
            aria-pressed={hasTools}
            onClick={() => setHasTools(!hasTools)}
          />
        ) : null}
      </PageHead>
      <Answered live={live}>
        {() => (
          <>
            {isCut ? <Lines tone="plain" lines={[CUT]} /> : null}
            {messages.length === 0 ? <Empty title="This conversation is empty" /> : null}
            <List class="talk stack" isOrdered rows={messages} first={MESSAGES_SHOWN}>
              {(message) => <Message message={message} q={q} />}
            </List>
          </>
        )}
      </Answered>
    </>
  );
}

function Message({ message: { role, at, text }, q }: { message: SessionView["messages"][number]; q: string }): VNode {
  const isLong = text.length > LONG_CHARS;
  const [isOpen, setOpen] = useState(false);
  const shown = isLong && !isOpen ? `${text.slice(0, LONG_CHARS)}…` : text;
  const turn = isOpen ? "Fold" : `Show all ${text.length.toLocaleString()} characters`;
  return (
    <div class={`said said-${role}`}>
      <p class="small">
        <strong>{SPEAKERS[role]}</strong>{" "}
        {at === null ? null : <time class="soft" dateTime={at} children={formatMoment(at)} />}
      </p>
      <div class={role === "tool" || role === "note" ? "box soft" : undefined} dir="auto">
        <Marked text={shown} q={q} />
      </div>
      {isLong ? <Button isSmall text={turn} onClick={() => setOpen(!isOpen)} /> : null}
    </div>
  );
}

/** The text with the words that were searched marked in it. */
function Marked({ text, q }: { text: string; q: string }): VNode {
  const words = q.split(/\s+/).filter((word) => word.length > 1);
  if (words.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return <>{text.split(pattern).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}
