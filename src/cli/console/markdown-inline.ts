/** What stands inside a line of Markdown: weights, code, links; everything else as it was written. */

import type { Token, Tokens } from "marked";
import type { Paint } from "./paint.ts";

export function renderInline(tokens: readonly Token[], paint: Paint): string {
  return tokens.map((token) => renderToken(token, paint)).join("");
}

function renderToken(token: Token, paint: Paint): string {
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens ? renderInline(token.tokens, paint) : decode(token.raw);
    case "escape":
      return (token as Tokens.Escape).text;
    case "strong":
      return paint.bold(renderInline((token as Tokens.Strong).tokens, paint));
    case "em":
      return paint.italic(renderInline((token as Tokens.Em).tokens, paint));
    case "del":
      return paint.strike(renderInline((token as Tokens.Del).tokens, paint));
    case "codespan":
      // Without colour the marks stay: what is code must be told from words.
      return paint.on ? paint.cyan((token as Tokens.Codespan).text) : `\`${(token as Tokens.Codespan).text}\``;
    case "br":
      return "\n";
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "[x] " : "[ ] ";
    case "link":
      return renderLink(token as Tokens.Link, paint);
    case "image":
      return renderImage(token as Tokens.Image, paint);
    default:
      return token.raw;
  }
}

function renderLink({ href, title, text, tokens }: Tokens.Link, paint: Paint): string {
  const shown = renderInline(tokens, paint);
  // An address that is its own text is not said twice.
  if (text === href || `mailto:${text}` === href) return paint.underline(shown);
  return `${paint.underline(shown)} ${paint.dim(`(${target(href, title)})`)}`;
}

function renderImage({ href, title, text }: Tokens.Image, paint: Paint): string {
  return `[image: ${text}] ${paint.dim(`(${target(href, title)})`)}`;
}

function target(href: string, title?: string | null): string {
  return title ? `${href} "${title}"` : href;
}

/** The few entities that people write; all others stay. */
function decode(text: string): string {
  return text.includes("&") ? text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity) : text;
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
