import { readFileSync } from "node:fs";
import { folderWith } from "../folder-with.ts";
import { type Guide, guides } from "./guides.ts";
import { renderMarkdown } from "./render-markdown.ts";

/** A file of `/docs/`, which is read or rendered when it is first requested. */
export interface DocsFile {
  readonly type: string;
  readonly read: () => string | Uint8Array;
}

const html = "text/html; charset=utf-8";
const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";

/** The files of Swagger UI that the reference needs. Other files of the package are not served. */
const viewerFiles: Readonly<Record<string, string>> = {
  "swagger-ui.css": style,
  "swagger-ui-bundle.js": script,
  "favicon-32x32.png": "image/png",
};

const ownFiles: Readonly<Record<string, string>> = {
  "page.css": style,
  "reference.js": script,
  "operations.js": script,
};

/** The folder is copied next to the compiled code in the npm package. */
const folder = new URL("docs/", folderWith("docs/browser"));

const reference = `    <noscript>This page needs JavaScript. The API is described in <a href="../openapi.json">openapi.json</a>.</noscript>
    <main id="reference"></main>`;

/** The README links to the page that a server on the reader's own machine has. */
const readmeUrl = "http://localhost:8080/docs";

function renderGuide({ file }: Guide): string {
  const source = new URL(file, folder);
  const pageOf = (link: string): string | undefined => {
    if (link === readmeUrl) return "./";
    const { href } = new URL(link, source);
    return guides.find((each) => new URL(each.file, folder).href === href)?.slug;
  };
  return renderMarkdown(readFileSync(source, "utf8"), pageOf);
}

/** Returns the files below `/docs/` by their path there: the API reference is at the empty one. */
export function docsFiles(): ReadonlyMap<string, DocsFile> {
  const files = new Map<string, DocsFile>();
  const styles = ["swagger-ui.css"];
  const scripts = ["swagger-ui-bundle.js", "reference.js"];
  const page = { slug: "", title: "API reference", content: reference, styles, scripts };
  files.set("", { type: html, read: () => framePage(page) });
  for (const guide of guides) {
    const { slug, title } = guide;
    const read = () => {
      const content = `    <main class="guide">\n${renderGuide(guide)}    </main>`;
      return framePage({ slug, title, content, scripts: guide.script === undefined ? [] : [guide.script] });
    };
    files.set(slug, { type: html, read });
  }
  for (const [name, type] of Object.entries(ownFiles)) {
    files.set(name, { type, read: () => readFileSync(new URL(`browser/${name}`, folder)) });
  }
  for (const [name, type] of Object.entries(viewerFiles)) {
    files.set(name, { type, read: () => readViewerFile(name) });
  }
  return files;
}

function readViewerFile(name: string): Buffer {
  // Resolves package.json and not the main module, which would run all of Swagger UI here.
  return readFileSync(new URL(name, import.meta.resolve("swagger-ui-dist/package.json")));
}

/** What a page has inside the frame that all share. */
interface FramedPage {
  /** The slug of a guide; empty for the API reference. */
  readonly slug: string;
  readonly title: string;
  /** Trusted HTML. */
  readonly content: string;
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
}

/** Returns a whole page with the navigation. All links are relative, so that the pages may be served below a prefix. */
function framePage({ slug, title, content, styles = [], scripts = [] }: FramedPage): string {
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
