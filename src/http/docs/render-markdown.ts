import MarkdownIt, { type Token } from "markdown-it";

/** Returns the page for a link, without its `#heading`; undefined if the link leads to none. */
export type PageOfLink = (link: string) => string | undefined;

/**
 * Renders Markdown as HTML. HTML in the Markdown is shown as text. Headings get ids, as in the usual viewers of repositories, so
 * that links to them work in both. A link to a file that is not served becomes plain text.
 */
export function renderMarkdown(text: string, pageOf: PageOfLink): string {
  const markdown = new MarkdownIt("commonmark", { html: false }).enable("table").disable("image");
  // A wide table or line of code scrolls, and needs the focus for that to work with the keyboard.
  markdown.renderer.rules["table_open"] = () => '<div class="scrolls" tabindex="0"><table>';
  markdown.renderer.rules["table_close"] = () => "</table></div>";
  markdown.core.ruler.push("heading-ids", ({ tokens }) => addHeadingIds(tokens));
  markdown.core.ruler.push("alignment", ({ tokens }) => replaceStyles(tokens));
  markdown.core.ruler.push("links", ({ tokens }) => {
    for (const token of tokens) token.children &&= resolveLinks(token.children, pageOf);
  });
  return markdown.render(text);
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
