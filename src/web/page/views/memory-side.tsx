/** What is known of a memory beside its text: links both ways, cues, fields, where it comes from. */
import type { ComponentChildren, VNode } from "preact";
import type { MemoryView } from "../../api.ts";
import { formatMoment } from "../parts/format.ts";
import { MemoryLink } from "../parts/memory-link.tsx";

export function MemorySide({ memory }: { memory: MemoryView }): VNode {
  return (
    <aside class="memory-side" aria-label="About this memory">
      <Links memory={memory} />
      <Cues cues={memory.cues} />
      <Facts title="Fields" facts={memory.fields} />
      <Facts title="Where it comes from" facts={newOf(memory)} />
    </aside>
  );
}

function Links({ memory }: { memory: MemoryView }): VNode | null {
  const { to, from } = memory.links;
  if (to.length === 0 && from.length === 0) return null;
  return (
    <section class="aside-part">
      <h2>Links</h2>
      {to.length === 0 ? null : (
        <LinkList title="To">
          {to.map((link) => (
            <li key={link.name}>
              {"file" in link ? (
                <MemoryLink memory={link} />
              ) : (
                <span class="dangling" title="There is no memory of this name" dir="auto">
                  {link.name}
                </span>
              )}
            </li>
          ))}
        </LinkList>
      )}
      {from.length === 0 ? null : (
        <LinkList title="From">
          {from.map((link) => (
            <li key={`${link.directory}/${link.file}`}>
              <MemoryLink memory={link} />
            </li>
          ))}
        </LinkList>
      )}
    </section>
  );
}

function LinkList({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <>
      <h3 class="soft">{title}</h3>
      <ul class="plain-list">{children}</ul>
    </>
  );
}

function Cues({ cues }: { cues: string[] }): VNode | null {
  if (cues.length === 0) return null;
  return (
    <section class="aside-part">
      <h2>Cues</h2>
      <ul class="plain-list">
        {cues.map((cue) => (
          <li key={cue} dir="auto">
            {cue}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ title, facts }: { title: string; facts: { key: string; value: string | string[] }[] }): VNode | null {
  if (facts.length === 0) return null;
  return (
    <section class="aside-part">
      <h2>{title}</h2>
      <dl class="facts">
        {facts.map(({ key, value }) => (
          <div key={key}>
            <dt dir="auto">{key}</dt>
            <dd dir="auto">{Array.isArray(value) ? value.join(" · ") : formatFact(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What the fields say already is not said twice. */
function newOf({ provenance, fields }: MemoryView): MemoryView["provenance"] {
  return provenance.filter((fact) => !fields.some(({ key, value }) => key === fact.key && value === fact.value));
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function formatFact(value: string): ComponentChildren {
  return MOMENT.test(value) ? <time dateTime={value}>{formatMoment(value)}</time> : value;
}
