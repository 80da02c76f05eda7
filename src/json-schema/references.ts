import type { JsonObject } from "@bufbuild/protobuf";
import type { Referred } from "./keyword.ts";
import type { SchemaNode, SchemaResource } from "./node.ts";
import { SchemaError } from "./schema-error.ts";
import { type Work, spend, stepsOfText } from "./work.ts";

/** A resource while its nodes are being read. */
export interface FoundResource extends SchemaResource {
  readonly uri: string;
  readonly nodes: Map<string, SchemaNode>;
  readonly dynamic: Map<string, SchemaNode>;
}

/** What relative identifiers of a root without one are relative to. */
const nowhere = "schema:///";

/**
 * Creates what is known of the resources and anchors of a schema. References are resolved at the end.
 *
 * @param work what identifiers and references take: as long as what they are relative to.
 */
export function createReferences(work: Work) {
  const resources = new Map<string, FoundResource>();
  const waiting: (() => void)[] = [];
  const afterwards: (() => void)[] = [];

  const createResource = (uri: string): FoundResource => {
    const resource = { uri, nodes: new Map(), dynamic: new Map() };
    resources.set(uri, resource);
    return resource;
  };

  const root = createResource(nowhere);
  const find = (from: FoundResource, reference: string): { node: SchemaNode; anchor?: string } | undefined => {
    const hash = reference.indexOf("#");
    const [address, fragment] = hash < 0 ? [reference, ""] : [reference.slice(0, hash), reference.slice(hash + 1)];
    const resource = address === "" ? from : resources.get(absolute(address, from.uri, work) ?? "");
    const key = decode(fragment);
    const node = resource?.nodes.get(key === "" || key.startsWith("/") ? key : `#${key}`);
    if (node === undefined) return undefined;
    return resource?.dynamic.get(key) === node ? { node, anchor: key } : { node };
  };

  return {
    root,

    /** Returns the resource that a schema with an identifier begins; undefined if it has none. */
    enter({ $id: id }: JsonObject, outer: FoundResource, location: string): FoundResource | undefined {
      if (id === undefined) return undefined;
      const uri = typeof id === "string" ? absolute(id.replace(/#$/, ""), outer.uri, work) : undefined;
      if (uri === undefined || uri.includes("#")) {
        throw new SchemaError(`${location}/$id`, "must be a URI reference without a fragment");
      }
      if (resources.has(uri)) throw new SchemaError(`${location}/$id`, `must differ from that of another schema`);
      return createResource(uri);
    },

    name({ $anchor, $dynamicAnchor }: JsonObject, { nodes, dynamic }: FoundResource, node: SchemaNode): void {
      for (const anchor of [$anchor, $dynamicAnchor]) {
        if (typeof anchor === "string") nodes.set(`#${anchor}`, node);
      }
      if (typeof $dynamicAnchor === "string") dynamic.set($dynamicAnchor, node);
    },

    /** Keeps a reference, to be resolved at the end. */
    add(from: FoundResource, reference: string, location: string): Referred {
      let found: { node: SchemaNode; anchor?: string } | undefined;
      const get = (): { node: SchemaNode; anchor?: string } => {
        if (found === undefined) {
          const problem = `can't resolve reference ${JSON.stringify(reference)}: it must lead to a schema in this one`;
          throw new SchemaError(location, problem);
        }
        return found;
      };
      waiting.push(() => {
        found = find(from, reference);
        get();
      });
      return { node: () => get().node, anchor: () => get().anchor };
    },

    afterwards: (run: () => void): void => void afterwards.push(run),

    /** @throws SchemaError when a reference leads nowhere. */
    resolve(): void {
      for (const each of waiting) each();
      for (const each of afterwards) each();
    },
  };
}

function absolute(reference: string, base: string, work: Work): string | undefined {
  spend(work, stepsOfText(reference) + stepsOfText(base));
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
