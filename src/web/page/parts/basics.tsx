/** Small elements: buttons, tags, bars, ages, links to memories, and text fields with their labels. */
import type { ComponentChildren, TextareaHTMLAttributes, VNode } from "preact";
import { useId } from "preact/hooks";
import type { MemoryTitle, Ref } from "../../api.ts";
import { formatRoute } from "../router.ts";
import { formatAge, formatMoment, keyOf, showName } from "./format.ts";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

interface ButtonStyle {
  kind?: "plain" | "primary" | "danger" | "quiet";
  /** Within a line. */
  isSmall?: boolean;
  children: ComponentChildren;
}

interface ButtonProps extends ButtonStyle {
  onClick: () => void;
  isDisabled?: boolean;
  /** Work is in progress: it cannot be pressed again. */
  isBusy?: boolean;
  /** If the text on it is not clear enough. */
  label?: string;
  isPressed?: boolean;
}

export function Button(props: ButtonProps): VNode {
  return (
    <button
      type="button"
      class={classOf(props)}
      onClick={props.onClick}
      disabled={(props.isDisabled ?? false) || (props.isBusy ?? false)}
      aria-busy={props.isBusy ?? false}
      aria-label={props.label}
      aria-pressed={props.isPressed}
    >
      {props.children}
    </button>
  );
}

export function LinkButton(props: ButtonStyle & { href: string }): VNode {
  return (
    <a class={classOf(props)} href={props.href}>
      {props.children}
    </a>
  );
}

function classOf({ kind = "plain", isSmall = false }: ButtonStyle): string {
  return `button button-${kind}${isSmall ? " button-small" : ""}`;
}

/** A small word on a coloured ground: a scope, a verdict. */
export function Tag(props: { children: ComponentChildren; tone?: Tone; title?: string }): VNode {
  return (
    <span class={`tag tone-${props.tone ?? "plain"}`} title={props.title}>
      {props.children}
    </span>
  );
}

/** A word after a dot in the colour of its class. */
export function Dotted({ dot, children }: { dot: string; children: ComponentChildren }): VNode {
  return (
    <span class="type">
      <span class={`dot ${dot}`} aria-hidden="true" />
      {children}
    </span>
  );
}

export function TypeTag({ type }: { type: string }): VNode {
  return <Dotted dot={`type-${type}`}>{type}</Dotted>;
}

/** The tone of a verdict on a memory or a claim. */
export function toneOf(verdict: string): Tone {
  if (verdict === "holds") return "good";
  if (verdict === "gone" || verdict === "expired") return "bad";
  if (verdict === "moved" || verdict === "doubtful") return "warn";
  return "plain";
}

/** `share` is clamped to 0…1; `label` is read aloud, such as "words, 62 %". */
export function Bar({ share, label, tone = "accent" }: { share: number; label: string; tone?: Tone }): VNode {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div class={`bar tone-${tone}`} role="img" aria-label={label}>
      <span style={{ width: `${percent}%` }} />
    </div>
  );
}

/** How long ago something was, with the exact time on hover. */
export function Age({ at }: { at: string }): VNode {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return <span class="age">{at}</span>;
  return (
    <time class="age" dateTime={at} title={formatMoment(at)}>
      {formatAge(Date.now() - then.getTime())}
    </time>
  );
}

/** A paragraph in a soft colour with automatic text direction; nothing if there is no text. */
export function Soft({ text }: { text: string }): VNode | null {
  return text === "" ? null : (
    <p class="soft" dir="auto">
      {text}
    </p>
  );
}

export function MemoryLink({ memory }: { memory: MemoryTitle }): VNode {
  return (
    <a class="memory-link" href={formatMemoryRoute(memory)} dir="auto">
      {showName(memory.name)}
    </a>
  );
}

/** Links side by side; `more` is how many memories are not named, `href` where to find them. */
export function LinkRow(props: { memories: MemoryTitle[]; more?: number; href?: string }): VNode | null {
  const { memories, more = 0, href } = props;
  if (memories.length === 0) return null;
  const rest = `and ${more.toLocaleString()} more`;
  return (
    <ul class="link-row">
      {memories.map((memory) => (
        <li key={keyOf(memory)}>
          <MemoryLink memory={memory} />
        </li>
      ))}
      {more > 0 ? <li class="soft">{href === undefined ? rest : <a href={href}>{rest}</a>}</li> : null}
    </ul>
  );
}

export function formatMemoryRoute({ directory, file }: Ref): string {
  return formatRoute("memory", { directory, file });
}

interface FieldProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "onInput" | "label"> {
  label: string;
  value: string;
  onInput: (value: string) => void;
  /** A sentence under the field. */
  says?: string;
  /** One line by default. */
  rows?: number;
  /** For the field with its label. */
  fieldClass?: string;
}

export function TextField({ label, value, onInput, says, rows, fieldClass = "", ...more }: FieldProps): VNode {
  const id = useId();
  // The two take the same attributes except `type` and `rows`.
  const Element = (rows === undefined ? "input" : "textarea") as "textarea";
  return (
    <div class={`field ${fieldClass}`.trim()}>
      <label for={id}>{label}</label>
      <Element
        id={id}
        {...(rows === undefined ? { type: "text" } : { rows })}
        dir="auto"
        aria-describedby={says === undefined ? undefined : `${id}-says`}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...more}
      />
      {says === undefined ? null : (
        <p class="soft small" id={`${id}-says`}>
          {says}
        </p>
      )}
    </div>
  );
}
