// What the pages read of the OpenAPI document: its sections, and the part of it that each section needs.

export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** Operations by path and lower-case HTTP method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly deprecated?: boolean;
}

/** The operations of a tag. */
export interface Section {
  /** The tag in lower case, with dashes: part of URLs. */
  readonly slug: string;
  readonly name: string;
  /** Markdown. */
  readonly description: string;
  readonly operations: readonly ListedOperation[];
}

export interface ListedOperation {
  readonly id: string;
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
}

/** Returns the sections in the order of the tags. */
export function sectionsOf({ tags, paths }: ApiDocument): Section[] {
  const all = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return tags.map(({ name, description }) => {
    const own = all.filter(({ operation }) => operation.tags.includes(name));
    const operations = own.map(({ path, method, operation: { operationId, summary, deprecated } }) => {
      return { id: operationId, method, path, summary, isDeprecated: deprecated === true };
    });
    return { slug: name.toLowerCase().replaceAll(" ", "-"), name, description, operations };
  });
}

/** Returns the document of a section: its operations, with the components that they refer to. */
export function documentOf(section: Section, { openapi, info, paths, components }: ApiDocument): unknown {
  const own: Record<string, Record<string, unknown>> = {};
  for (const { path, method } of section.operations) {
    (own[path] ??= {})[method.toLowerCase()] = paths[path]?.[method.toLowerCase()];
  }
  const used: Record<string, Record<string, unknown>> = {};
  const addUsed = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== "$ref" || typeof value !== "string") {
        addUsed(value);
        continue;
      }
      // #/components/schemas/Member
      const [, , kind = "", name = ""] = value.split("/");
      const of = (used[kind] ??= {});
      if (name in of) continue;
      of[name] = components[kind]?.[name];
      addUsed(of[name]);
    }
  };
  addUsed(own);
  return { openapi, info, paths: own, components: used };
}
