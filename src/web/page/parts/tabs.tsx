/** A choice of one among a few, side by side: tabs over a panel. */
import type { ComponentChildren, VNode } from "preact";
import { useId, useRef } from "preact/hooks";

export interface Tab {
  id: string;
  title: string;
  count?: number;
}

interface Props {
  label: string;
  tabs: Tab[];
  current: string;
  onChange: (id: string) => void;
  /** The panel of the current tab. */
  children: ComponentChildren;
}

export function Tabs({ label, tabs, current, onChange, children }: Props): VNode {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === current);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} class="tab-list" ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            id={`${base}-${tab.id}`}
            aria-selected={tab.id === current}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === current ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.title}
            {tab.count === undefined ? null : <span class="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${current}`} class="tab-panel">
        {children}
      </div>
    </div>
  );
}
