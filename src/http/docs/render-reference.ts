import Markdown from "markdown-it";
import type { ListedOperation, Section } from "./api-document.ts";

/** The URLs of what the page loads when an operation is opened. */
export interface ReferenceLinks {
  readonly viewer: { readonly script: string; readonly style: string };
  readonly documentOf: (section: Section) => string;
}

/**
 * Renders the list of all operations, by section, with a place for the details of each, which `docs/browser/reference.js` fills when it
 * is opened.
 *
 * @param description of the API, in Markdown.
 */
export function renderReference(description: string, sections: readonly Section[], links: ReferenceLinks): string {
  const markdown = new Markdown("commonmark", { html: false });
  const { escapeHtml } = markdown.utils;
  const renderOperation = ({ id, method, path, summary, isDeprecated }: ListedOperation): string => {
    const deprecated = isDeprecated ? ` <span class="deprecated">deprecated</span>` : "";
    return `<details class="operation" id="${id}"><summary><b class="${method.toLowerCase()}">${method}</b>
<code>${escapeHtml(path)}</code> <span>${escapeHtml(summary)}</span>${deprecated}</summary></details>`;
  };
  const renderSection = (section: Section): string => {
    const { slug, name, operations } = section;
    const count = `${operations.length} ${operations.length === 1 ? "operation" : "operations"}`;
    return `<details class="section" id="${slug}" data-document="${links.documentOf(section)}">
<summary><h2>${escapeHtml(name)}</h2> <span class="quiet">${count}</span></summary>
${markdown.render(section.description)}${operations.map(renderOperation).join("\n")}
</details>`;
  };
  const { script, style } = links.viewer;
  return `    <main id="reference" data-script="${script}" data-style="${style}">
<h1>API reference</h1>
<details class="about"><summary>About the API</summary>
${markdown.render(description)}</details>
<noscript><p>Without JavaScript this page lists the operations, and <a href="../openapi.json">openapi.json</a> describes them.</p></noscript>
<div class="tools">
<label>API key or access token, for calls from this page <input id="key" type="password" autocomplete="off" spellcheck="false"></label>
<button type="button" id="open-all">Open all</button>
<button type="button" id="close-all">Close all</button>
</div>
${sections.map(renderSection).join("\n")}
    </main>`;
}
