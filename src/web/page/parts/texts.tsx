/** Texts of memories: diffs line by line, verbatim text, and Markdown as elements. */
import type { ComponentChildren, VNode } from "preact";
import type { DiffLine, MarkdownNode } from "../../api.ts";
import { formatMemoryRoute } from "./basics.tsx";

const SIGNS = { same: " ", added: "+", removed: "−", skipped: " ", file: " " };
const WORDS = { same: "", added: "added: ", removed: "removed: ", skipped: "", file: "" };

/** Additions and removals are marked by a sign, not by colour alone. */
export function Diff({ lines, label }: { lines: DiffLine[]; label: string }): VNode {
  if (lines.every(({ kind }) => kind !== "added" && kind !== "removed")) return <p class="soft">No changes.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="diff" aria-label={label} tabIndex={0}>
      {lines.map((line, at) => (
        <div key={at} class={`diff-line diff-${line.kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[line.kind]}
          </span>
          <span class="hidden">{WORDS[line.kind]}</span>
          <span class="diff-text" dir="auto">
            {line.kind === "skipped" ? `⋯ ${line.text}` : line.text}
          </span>
        </div>
      ))}
    </section>
  );
}

/** Every line finds its own direction, so that one in Arabic does not turn the next. */
export function Sent({ text, label }: { text: string; label: string }): VNode {
  const lines = text.split("\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="sent" aria-label={label} tabIndex={0}>
      <pre>
        {lines.map((line, at) => (
          <span key={`${at}`} class="line" dir="auto">
            {at === lines.length - 1 ? line : `${line}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}

/** Two texts side by side, or one below the other if there is no space. */
export function Sides({ left, right }: Record<"left" | "right", { title: string; text: string }>): VNode {
  return (
    <div class="sides">
      {[left, right].map(({ title, text }, at) => (
        <figure key={at}>
          <figcaption>
            <bdi>{title}</bdi>
          </figcaption>
          <Sent text={text} label={title} />
        </figure>
      ))}
    </div>
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
    <div class="markdown" dir="auto">
      {nodes.map(render)}
    </div>
  );
}

function render(node: MarkdownNode, at: number): ComponentChildren {
  const inner = () => (node.children ? node.children.map(render) : node.text);
  const { kind } = node;
  if (kind === "text") return node.text ?? "";
  if (kind === "hr") return <hr key={at} />;
  if (kind === "br") return <br key={at} />;
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
    // The view's own title is the only h1.
    const Element = (kind === "h1" ? "h2" : kind) as "p";
    return (
      // The list and not its items, because the list has the space for the markers.
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
    <a key={at} class="memory-link" href={formatMemoryRoute(node.ref)}>
      {name}
    </a>
  );
}
