/** A button, and a link that looks like one. */
import type { ComponentChildren, VNode } from "preact";

interface Look {
  kind?: "plain" | "primary" | "danger" | "quiet";
  /** A small one, within a line. */
  isSmall?: boolean;
  children: ComponentChildren;
}

interface ButtonProps extends Look {
  onClick: () => void;
  isDisabled?: boolean;
  /** Work is under way: it cannot be pressed again. */
  isBusy?: boolean;
  /** Where the words on it do not say enough. */
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

export function LinkButton(props: Look & { href: string }): VNode {
  return (
    <a class={classOf(props)} href={props.href}>
      {props.children}
    </a>
  );
}

function classOf({ kind = "plain", isSmall = false }: Look): string {
  return `button button-${kind}${isSmall ? " button-small" : ""}`;
}
