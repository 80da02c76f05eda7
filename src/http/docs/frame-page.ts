import { guides } from "./guides.ts";

/** What a page has inside the frame that all share. */
export interface FramedPage {
  /** The slug of a guide; empty for the API reference. */
  readonly slug: string;
  readonly title: string;
  /** Trusted HTML. */
  readonly content: string;
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
}

/** Returns a whole page with the navigation. All links are relative, so that the pages may be served below a prefix. */
export function framePage({ slug, title, content, styles = [], scripts = [] }: FramedPage): string {
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
    <link rel="icon" type="image/png" href="favicon-32x32.png">
${[...styles, "page.css"].map((name) => `    <link rel="stylesheet" href="${name}">\n`).join("")}\
${scripts.map((name) => `    <script defer src="${name}"></script>\n`).join("")}\
  </head>
  <body>
    <header>
      <strong>Tenantry</strong>
      <nav aria-label="Documentation">
        ${links.join("\n        ")}
      </nav>
    </header>
${content}
  </body>
</html>
`;
}
