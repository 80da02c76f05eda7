import Markdown, { type MarkdownIt, type Token } from "markdown-it";

/** Returns the page for a link, without its `#heading`; undefined if the link leads to none. */
export type PageOfLink = (link: string) => string | undefined;

/** A heading with the text below it, up to the next heading. */
export interface Passage {
  /** The id of the heading. */
  readonly id: string;
  readonly heading: string;
  /** Without markup. */
  readonly text: string;
}

/**
 * Renders Markdown as HTML. HTML in the Markdown is shown as text. Headings get ids, as in the usual viewers of repositories, so
 * that links to them work in both. A link to a file that is not served becomes plain text.
 */
export function renderMarkdown(text: string, pageOf: PageOfLink): string {
  const markdown = createMarkdown();
  // A wide table or line of code scrolls, and needs the focus for that to work with the keyboard.
  markdown.renderer.rules["table_open"] = () => '<div class="scrolls" tabindex="0"><table>';
  markdown.renderer.rules["table_close"] = () => "</table></div>";
  markdown.core.ruler.push("alignment", ({ tokens }) => replaceStyles(tokens));
  markdown.core.ruler.push("links", ({ tokens }) => {
    for (const token of tokens) token.children &&= resolveLinks(token.children, pageOf);
  });
  return markdown.render(text);
}

/** Returns the passages of Markdown, with the ids that `renderMarkdown` gives their headings. What precedes the first heading is left out. */
export function passagesOf(text: string): Passage[] {
  const passages: { id: string; heading: string; texts: string[] }[] = [];
  let isHeading = false;
  for (const token of createMarkdown().parse(text, {})) {
    if (token.type === "heading_open") passages.push({ id: String(token.attrGet("id")), heading: "", texts: [] });
    isHeading = token.type === "heading_open" || (isHeading && token.type !== "heading_close");
    const passage = passages.at(-1);
    const content = plainText(token);
    if (passage === undefined || content === "") continue;
    if (isHeading) passage.heading = content;
    else passage.texts.push(content);
  }
  return passages.map(({ texts, ...passage }) => ({ ...passage, text: texts.join(" ") }));
}

function createMarkdown(): MarkdownIt {
  const markdown = new Markdown("commonmark", { html: false }).enable("table").disable("image");
  markdown.core.ruler.push("heading-ids", ({ tokens }) => addHeadingIds(tokens));
  return markdown;
}

type Tokens = Token[];

function addHeadingIds(tokens: Tokens): void {
  const seen = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const id = headingId(tokens[index + 1]?.children ?? []);
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    token.attrSet("id", count === 0 ? id : `${id}-${count}`);
  }
}

/** The policy of the pages forbids style attributes, with which cells of tables are aligned. */
function replaceStyles(tokens: Tokens): void {
  for (const token of tokens) {
    const style = token.attrGet("style");
    if (style !== null) token.attrs = [["class", String(style).replace("text-align:", "align-")]];
  }
}

/** Returns the text of a block of code, or of a paragraph, heading or cell; empty for what only surrounds others. */
function plainText({ children, content }: Token): string {
  const parts =
    children === null ? [content] : children.map((each) => (each.type === "softbreak" ? " " : each.content));
  return parts.join("").trim();
}

function headingId(inline: Tokens): string {
  const text = inline.map(({ content }) => content).join("");
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function resolveLinks(inline: Tokens, pageOf: PageOfLink): Tokens {
  const resolved: Tokens = [];
  let isDropped = false;
  for (const token of inline) {
    if (token.type === "link_open") {
      const href = resolveLink(String(token.attrGet("href")), pageOf);
      isDropped = href === undefined;
      if (href !== undefined) token.attrSet("href", href);
    }
    const isLink = token.type === "link_open" || token.type === "link_close";
    if (!(isLink && isDropped)) resolved.push(token);
  }
  return resolved;
}

function resolveLink(href: string, pageOf: PageOfLink): string | undefined {
  if (href.startsWith("#")) return href;
  const [link = "", heading] = href.split("#");
  const target = pageOf(link);
  if (target === undefined) return /^https?:/.test(href) ? href : undefined;
  return heading === undefined ? target : `${target}#${heading}`;
}
