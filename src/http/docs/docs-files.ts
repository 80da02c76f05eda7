import { readFileSync } from "node:fs";
import { folderWith } from "../folder-with.ts";
import { type ApiDocument, documentOf, sectionsOf } from "./api-document.ts";
import { framePage } from "./frame-page.ts";
import { type Guide, guides } from "./guides.ts";
import { passagesOf, renderMarkdown } from "./render-markdown.ts";
import { renderReference } from "./render-reference.ts";
import { type ServedFile, createServedFile } from "../served-file.ts";
import { readViewerFile, viewerFiles } from "./viewer-files.ts";
import { entriesOfGuide, entriesOfSection } from "./search-entries.ts";

const html = "text/html; charset=utf-8";
const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";
const json = "application/json";

const ownFiles: Readonly<Record<string, string>> = {
  "page.css": style,
  "page.js": script,
  "reference.js": script,
  "operations.js": script,
};

/** The folder is copied next to the compiled code in the npm package. */
const folder = new URL("docs/", folderWith("docs/browser"));

/** The README links to the page that a server on the reader's own machine has. */
const readmeUrl = "http://localhost:8080/docs";

/** Returns the files below `/docs/` by their path there: the API reference is at the empty one. */
export function docsFiles(document: ApiDocument): ReadonlyMap<string, ServedFile> {
  const files = new Map<string, ServedFile>();
  const add = (path: string, type: string, read: () => string | Uint8Array): void => {
    files.set(path, createServedFile(type, read));
  };
  /** Returns the URL of a file, which changes with its content. */
  const linkTo = (path: string): string => `${path}?v=${files.get(path)?.digest()}`;
  const sections = sectionsOf(document);
  const pathOf = ({ slug }: { slug: string }): string => `reference/${slug}.json`;

  for (const [name, type] of Object.entries(ownFiles)) {
    add(name, type, () => readFileSync(new URL(`browser/${name}`, folder)));
  }
  for (const [name, type] of Object.entries(viewerFiles))
    add(name, type, () => readViewerFile(name, new URL("viewer/", folder)));
  for (const section of sections) add(pathOf(section), json, () => JSON.stringify(documentOf(section, document)));
  add("search.json", json, () =>
    JSON.stringify([
      ...sections.flatMap(entriesOfSection),
      ...guides.flatMap((guide) => entriesOfGuide(guide.slug, guide.title, passagesOf(readGuide(guide)))),
    ]),
  );
  add("", html, () => {
    const links = {
      viewer: { script: linkTo("swagger-ui-bundle.js"), style: linkTo("swagger-ui.css") },
      documentOf: (section: { slug: string }) => linkTo(pathOf(section)),
    };
    const content = renderReference(document.info.description, sections, links);
    return framePage({ slug: "", title: "API reference", content, scripts: ["reference.js"] }, linkTo);
  });
  for (const guide of guides) {
    const { slug, title } = guide;
    add(slug, html, () => {
      const content = `    <main class="guide">\n${renderGuide(guide)}    </main>`;
      return framePage({ slug, title, content, scripts: guide.script === undefined ? [] : [guide.script] }, linkTo);
    });
  }
  return files;
}

function readGuide({ file }: Guide): string {
  return readFileSync(new URL(file, folder), "utf8");
}

function renderGuide(guide: Guide): string {
  const source = new URL(guide.file, folder);
  const pageOf = (link: string): string | undefined => {
    if (link === readmeUrl) return "./";
    const { href } = new URL(link, source);
    return guides.find((each) => new URL(each.file, folder).href === href)?.slug;
  };
  return renderMarkdown(readGuide(guide), pageOf);
}
