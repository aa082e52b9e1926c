/** Small elements: buttons, fields with their labels, tags, bars, ages, lists, and links to memories. */
import type { ButtonHTMLAttributes, ComponentChildren, TextareaHTMLAttributes, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { MemoryTitle, Ref } from "../../api.ts";
import { formatRoute } from "../router.ts";
import { formatAge, formatMoment, keyOf, showName } from "./format.ts";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "onClick"> {
  text?: string;
  kind?: "plain" | "primary" | "danger" | "quiet";
  /** Within a line. */
  isSmall?: boolean;
  /** Work is in progress: it cannot be pressed again. */
  isBusy?: boolean;
  /** A link that looks like a button. */
  href?: string;
  onClick?: () => unknown;
}

export function Button(props: ButtonProps): VNode {
  const { text, kind = "plain", isSmall = false, isBusy = false, href, onClick, children, ...more } = props;
  const looks = `button button-${kind}${isSmall ? " button-small" : ""}`;
  if (href !== undefined)
    return (
      <a class={looks} href={href}>
        {text}
      </a>
    );
  const isDisabled = isBusy || more.disabled === true;
  return (
    <button type="button" {...more} class={looks} disabled={isDisabled} aria-busy={isBusy} onClick={() => onClick?.()}>
      {text}
      {children}
    </button>
  );
}

/** A button that looks like a link. */
export function TextButton({ text, ...more }: { text: string } & ButtonHTMLAttributes<HTMLButtonElement>): VNode {
  return (
    <button type="button" class="link" {...more}>
      <bdi>{text}</bdi>
    </button>
  );
}

type Option = string | readonly [value: string, title: string];

type Attributes = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "onInput" | "label">;

interface FieldProps extends Attributes {
  label: string;
  /** The label is read aloud only. */
  isBare?: boolean;
  value?: string;
  onInput: (value: string) => void;
  /** A sentence under the field. */
  says?: string;
  /** One line by default. */
  rows?: number;
  type?: "text" | "search" | "date";
  /** To choose from. */
  options?: readonly Option[];
  /** For the field with its label. */
  fieldClass?: string;
}

export function Field(props: FieldProps): VNode {
  const { label, isBare = false, onInput, says, rows, type = "text", options, fieldClass = "field", ...more } = props;
  const id = useId();
  // The three take the same attributes except `type` and `rows`.
  const Element = (options ? "select" : rows === undefined ? "input" : "textarea") as "textarea";
  return (
    <div class={fieldClass}>
      <label for={id} class={isBare ? "hidden" : undefined}>
        {label}
      </label>
      <Element
        id={id}
        {...(options ? {} : rows === undefined ? { type } : { rows })}
        dir="auto"
        autocomplete="off"
        aria-describedby={says === undefined ? undefined : `${id}-says`}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...more}
      >
        {options?.map((option) => {
          const [value, title] = typeof option === "string" ? [option, option] : option;
          return <option key={value} value={value} children={title} />;
        })}
      </Element>
      {says === undefined ? null : <p id={`${id}-says`} class="soft small" children={says} />}
    </div>
  );
}

/** The values of a form, and what a field of it needs. */
export function useForm<Values extends Record<string, string>>(first: Values) {
  const [values, setValues] = useState(first);
  const field = (key: keyof Values) => ({
    value: values[key] as string,
    onInput: (value: string) => setValues({ ...values, [key]: value }),
  });
  return { values, field };
}

interface FormProps {
  class?: string;
  /** By a button, by Enter in a line, or by Ctrl-Enter in a text. */
  onSubmit: () => void;
  /** A key opened it: the first line gets the focus before the next key, which would be another shortcut. */
  takesFocus?: boolean;
  children: ComponentChildren;
}

export function Form({ class: looks, onSubmit, takesFocus = false, children }: FormProps): VNode {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (takesFocus) form.current?.querySelector("input")?.focus();
  }, []);
  return (
    <form
      ref={form}
      class={looks}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface ListProps<Row> {
  rows: readonly Row[];
  children: (row: Row, at: number) => ComponentChildren;
  /** Its place by default. */
  keyOf?: (row: Row) => string;
  class?: string;
  /** Of every item. */
  item?: string;
  label?: string;
  isOrdered?: boolean;
  /** In its place if there are no rows. */
  none?: ComponentChildren;
  /** How many are shown at first; a button shows as many more. */
  first?: number;
}

export function List<Row>(props: ListProps<Row>): VNode {
  const { rows, children, keyOf: key, class: looks = "list", item, label, isOrdered = false, none } = props;
  const { first = Number.POSITIVE_INFINITY } = props;
  const [count, setCount] = useState(first);
  if (rows.length === 0) return <>{none}</>;
  const text = `Show more of ${rows.length.toLocaleString()}`;
  const Element = isOrdered ? "ol" : "ul";
  return (
    <>
      <Element class={looks} aria-label={label}>
        {rows.slice(0, count).map((row, at) => (
          <li key={key?.(row) ?? at} class={item}>
            {children(row, at)}
          </li>
        ))}
      </Element>
      {count < rows.length ? <Button text={text} onClick={() => setCount(count + first * 3)} /> : null}
    </>
  );
}

/** A small word on a coloured ground: a scope, a verdict. */
export function Tag({ text, tone = "plain", title }: { text: ComponentChildren; tone?: Tone; title?: string }): VNode {
  return <span class={`tag small tone-${tone}`} title={title} children={text} />;
}

export function TypeTag({ type }: { type: string }): VNode {
  return (
    <span class="type">
      <span class={`dot type-${type}`} aria-hidden="true" />
      {type}
    </span>
  );
}

const TONES: Record<string, Tone> = { holds: "good", gone: "bad", expired: "bad", moved: "warn", doubtful: "warn" };

/** The tone of a verdict on a memory or a claim. */
export function toneOf(verdict: string): Tone {
  return TONES[verdict] ?? "plain";
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
export function Age({ at, class: looks = "" }: { at: string; class?: string }): VNode {
  const ms = Date.now() - new Date(at).getTime();
  if (Number.isNaN(ms)) return <span class={looks}>{at}</span>;
  return <time class={`age ${looks}`} dateTime={at} title={formatMoment(at)} children={formatAge(ms)} />;
}

/** A paragraph in a soft colour with automatic text direction; nothing if there is no text. */
export function Soft({ text }: { text: string }): VNode | null {
  return text === "" ? null : <p class="soft" dir="auto" children={text} />;
}

/** The text with the words that were searched marked in it. */
export function Marked({ text, q }: { text: string; q: string }): VNode {
  const words = q.split(/\s+/).filter((word) => word.length > 1);
  if (words.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return <>{text.split(pattern).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>;
}

export function MemoryLink({ memory }: { memory: MemoryTitle }): VNode {
  return <a class="memory-link" href={formatMemoryRoute(memory)} dir="auto" children={showName(memory.name)} />;
}

/** Links side by side; `more` is how many memories are not named, `href` where to find them. */
export function LinkRow(props: { memories: MemoryTitle[]; more?: number; href?: string | undefined }): VNode | null {
  const { memories, more = 0, href } = props;
  if (memories.length === 0) return null;
  const rest = `and ${more.toLocaleString()} more`;
  return (
    <ul class="row row-wide">
      {memories.map((memory) => (
        <li key={keyOf(memory)}>
          <MemoryLink memory={memory} />
        </li>
      ))}
      {more > 0 ? <li class="soft">{href === undefined ? rest : <a href={href}>{rest}</a>}</li> : null}
    </ul>
  );
}

export function formatMemoryRoute({ directory, file }: Ref, view: "memory" | "edit" = "memory"): string {
  return formatRoute(view, { directory, file });
}

export function goToMemory(memory: Ref, view?: "edit"): void {
  location.hash = formatMemoryRoute(memory, view);
}

/** Keys to press one after the other. */
export function Keys({ keys }: { keys: string }): VNode {
  return (
    <>
      {keys.split(" ").map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  );
}
