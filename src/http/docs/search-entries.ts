import type { Section } from "./api-document.ts";
import type { Passage } from "./render-markdown.ts";

/** What the search of the pages finds. */
export interface SearchEntry {
  readonly kind: "operation" | "passage";
  /** Relative to `/docs/`. */
  readonly href: string;
  readonly title: string;
  /** The HTTP method and path of an operation; the title of the guide of a passage. */
  readonly detail: string;
  readonly text: string;
}

export function entriesOfSection({ name, operations }: Section): SearchEntry[] {
  return operations.map(({ id, method, path, summary, isDeprecated }) => {
    const text = [name, id, ...(isDeprecated ? ["deprecated"] : [])].join(" ");
    return { kind: "operation", href: `./#${id}`, title: summary, detail: `${method} ${path}`, text };
  });
}

export function entriesOfGuide(slug: string, title: string, passages: readonly Passage[]): SearchEntry[] {
  return passages.map(({ id, heading, text }) => {
    return { kind: "passage", href: `${slug}#${id}`, title: heading, detail: title, text };
  });
}
