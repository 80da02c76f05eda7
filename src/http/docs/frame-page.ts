import { guides } from "./guides.ts";

/** What a page has inside the frame that all share. */
interface FramedPage {
  /** The slug of a guide; empty for the API reference. */
  readonly slug: string;
  readonly title: string;
  /** Trusted HTML. */
  readonly content: string;
  readonly scripts: readonly string[];
}

/**
 * Returns a whole page with the navigation and the search. All links are relative, so that the pages may be served below a prefix.
 *
 * @param linkTo returns the URL of a file.
 */
export function framePage({ slug, title, content, scripts }: FramedPage, linkTo: (path: string) => string): string {
  const links = [{ slug: "", title: "API reference" }, ...guides].map((link) => {
    const current = link.slug === slug ? ' aria-current="page"' : "";
    return `<a href="${link.slug === "" ? "./" : link.slug}"${current}>${link.title}</a>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} - Tenantry</title>
    <link rel="icon" type="image/png" href="${linkTo("favicon-32x32.png")}">
    <link rel="stylesheet" href="${linkTo("page.css")}">
${["page.js", ...scripts].map((name) => `    <script type="module" src="${linkTo(name)}"></script>\n`).join("")}\
  </head>
  <body>
    <header>
      <strong>Tenantry</strong>
      <nav aria-label="Documentation">
        ${links.join("\n        ")}
      </nav>
    </header>
    <div class="search" role="search" data-entries="${linkTo("search.json")}">
      <input type="search" placeholder="Search operations and guides, such as: list members" aria-label="Search operations and guides">
      <span role="status"></span>
    </div>
    <section id="results" aria-label="Results of the search" hidden></section>
${content}
  </body>
</html>
`;
}
