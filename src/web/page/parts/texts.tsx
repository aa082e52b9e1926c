/** Texts of memories: verbatim, and Markdown as elements; and what is claimed in them. */
import type { ComponentChildren, VNode } from "preact";
import type { ClaimRow, MarkdownNode } from "../../api.ts";
import { formatMemoryRoute, List, Tag, toneOf } from "./basics.tsx";

/** What scrolls must be reachable by keyboard. */
export const SCROLLS = { tabIndex: 0 };

/** Every line finds its own direction, so that one in Arabic does not turn the next. */
export function Sent({ text, label }: { text: string; label: string }): VNode {
  const lines = text.split("\n");
  return (
    <section class="box sent" aria-label={label} {...SCROLLS}>
      <pre>
        {lines.map((line, at) => (
          <span key={`${at}`} dir="auto" children={at === lines.length - 1 ? line : `${line}\n`} />
        ))}
      </pre>
    </section>
  );
}

/** Kinds whose element has the same name and only children. */
const PLAIN = new Set(
  "p ul ol li blockquote strong em del code thead tbody tr th td h1 h2 h3 h4 h5 h6 sup sub".split(" "),
);

/** Any other link would lead out of the page. */
const LINK = /^(https?:|mailto:)/i;

/** A node of an unknown kind is shown as its text. */
export function Markdown({ nodes }: { nodes: MarkdownNode[] }): VNode {
  return (
    <div class="markdown stack" dir="auto">
      {nodes.map(render)}
    </div>
  );
}

function render(node: MarkdownNode, at: number): ComponentChildren {
  const { kind, text = "", href = "", checked = false } = node;
  if (kind === "text") return text;
  if (kind === "hr") return <hr key={at} />;
  if (kind === "br") return <br key={at} />;
  if (kind === "memory-link") return renderMemoryLink(node, at);
  if (kind === "task")
    return <input key={at} type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "to do"} />;
  const children = node.children ? node.children.map(render) : text;
  if (kind === "pre") return <pre key={at} dir="auto" {...SCROLLS} children={children} />;
  if (kind === "table")
    return <div key={at} style={{ overflowX: "auto" }} {...SCROLLS} children={<table>{children}</table>} />;
  if (kind === "labelled")
    return (
      <p key={at} class="labelled" dir="auto">
        <strong class="soft small">{text}</strong> {node.children?.map(render)}
      </p>
    );
  if (kind === "a" && LINK.test(href))
    return <a key={at} href={href} target="_blank" rel="noreferrer noopener" children={children} />;
  // The view's own title is the only h1.
  const Element = (!PLAIN.has(kind) ? "span" : kind === "h1" ? "h2" : kind) as "p";
  // The list and not its items, because the list has the space for the markers.
  return (
    <Element
      key={at}
      style={{ textAlign: node.align }}
      dir={["p", "ul", "ol"].includes(kind) ? "auto" : undefined}
      children={children}
    />
  );
}

function renderMemoryLink({ text, href = "", ref }: MarkdownNode, at: number): VNode {
  const name = text ?? href;
  if (ref) return <a key={at} class="memory-link" href={formatMemoryRoute(ref)} children={name} />;
  return <Dangling key={at} name={name} says={`There is no memory named ${href || name}`} />;
}

/** A link to a memory that does not exist. */
export function Dangling({ name, says }: { name: string; says: string }): VNode {
  return <span class="dangling" title={says} dir="auto" children={name} />;
}

/** What a memory claims, each with its verdict; what is wrong with the evidence beside it. */
export function Claims({ claims, first }: { claims: readonly ClaimRow[]; first?: number }): VNode {
  return (
    <List rows={claims} first={first} item="row">
      {({ verdict, text, line, evidence, isWrong }) => (
        <>
          <Tag tone={toneOf(verdict)} text={verdict} title={evidence} />
          <code dir="auto">{text}</code>
          {isWrong ? <span class="small">{line > 0 ? `line ${line}: ${evidence}` : evidence}</span> : null}
        </>
      )}
    </List>
  );
}
