/** Markdown that came as a tree, made into elements; a kind that is not known is shown as its text. */
import type { ComponentChildren, VNode } from "preact";
import type { MarkdownNode } from "../../api.ts";
import { formatRoute } from "../router.ts";

/** Kinds whose element has the same name and only children. */
const PLAIN = new Set("p ul ol li blockquote strong em del thead tbody tr th td h2 h3 h4 h5 h6 sup sub".split(" "));

/** Anything else in a link would be a way out of the page. */
const LINK = /^(https?:|mailto:)/i;

export function Markdown({ nodes }: { nodes: MarkdownNode[] }): VNode {
  return (
    <div class="markdown" dir="auto">
      {nodes.map(render)}
    </div>
  );
}

function render(node: MarkdownNode, at: number): ComponentChildren {
  const inner = () => (node.children ? node.children.map(render) : node.text);
  const { kind } = node;
  if (kind === "text") return node.text ?? "";
  // The view's own title is the only h1.
  if (kind === "h1") return <h2 key={at}>{inner()}</h2>;
  if (kind === "hr") return <hr key={at} />;
  if (kind === "br") return <br key={at} />;
  if (kind === "code") return <code key={at}>{inner()}</code>;
  if (kind === "pre")
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      <pre key={at} tabIndex={0} dir="auto">
        {inner()}
      </pre>
    );
  if (kind === "table")
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      <div key={at} class="scroll-x" tabIndex={0}>
        <table>{inner()}</table>
      </div>
    );
  if (kind === "a")
    return LINK.test(node.href ?? "") ? (
      <a key={at} href={node.href} target="_blank" rel="noreferrer noopener">
        {inner()}
      </a>
    ) : (
      <span key={at}>{inner()}</span>
    );
  if (kind === "memory-link") return renderMemoryLink(node, at);
  if (kind === "task")
    return (
      <input
        key={at}
        type="checkbox"
        checked={node.checked ?? false}
        disabled
        aria-label={node.checked ? "done" : "to do"}
      />
    );
  if (PLAIN.has(kind)) {
    const Element = kind as "p";
    return (
      // A list and not its items: a marker stands where the list has room for it.
      <Element key={at} dir={["p", "ul", "ol"].includes(kind) ? "auto" : undefined}>
        {inner()}
      </Element>
    );
  }
  return <span key={at}>{inner()}</span>;
}

function renderMemoryLink(node: MarkdownNode, at: number): VNode {
  const name = node.text ?? node.href ?? "";
  if (!node.ref)
    return (
      <span key={at} class="dangling" title={`There is no memory named ${node.href ?? name}`}>
        {name}
      </span>
    );
  return (
    <a key={at} class="memory-link" href={formatRoute("memory", { ...node.ref })}>
      {name}
    </a>
  );
}
