/** The head of a view: its title, also in the browser's tab, a sentence under it, and what can be done. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { showName } from "./name.ts";

interface Props {
  title: string;
  /** A sentence under the title. */
  lead?: ComponentChildren;
  /** Buttons, to the right where there is room. */
  children?: ComponentChildren;
}

export function PageHead({ title, lead, children }: Props): VNode {
  useEffect(() => {
    document.title = `${showName(title)} · memdir`;
  }, [title]);
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1 tabIndex={-1} dir="auto">
          {showName(title)}
        </h1>
        {lead === undefined ? null : <p class="lead">{lead}</p>}
      </div>
      {children ? <div class="actions">{children}</div> : null}
    </header>
  );
}
