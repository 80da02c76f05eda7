// Searches by calls of the Get and List methods as the caller, so that it finds what these show and nothing else: who may read what is
// decided where it always is. Each call reads by a key, or a few rows in the order of an index, and their number depends on the contract.
import { type ServiceImpl } from "@connectrpc/connect";
import pMap from "p-map";
import {
  type FoundResource,
  FoundResource_Match as Match,
  type SearchService,
} from "../../gen/iam/v1alpha/search_pb.ts";
import { targetOf } from "../access/evaluation/call.ts";
import { formatReferences } from "../paths/format-path.ts";
import { type PathPattern, type ResourceType, patterns, sharesIds } from "../paths/patterns.ts";
import type { ResourceRegistry } from "../standard-methods/definition/registry.ts";
import { type ListPage, type OfCaller, getFound, listFound } from "./call-finder.ts";
import { type Finder, createFinders } from "./finders.ts";
import { type SearchQuery, readQuery } from "./read-query.ts";

interface SearchDependencies {
  readonly registry: Pick<ResourceRegistry, "definitions">;
  readonly ofCaller: OfCaller;
}

/** A call of a search: of a Get method, or of a List method, or of the latter if the caller may not call the former. */
interface Step {
  readonly finder: Finder;
  readonly match: Match;
  readonly path?: string;
  readonly list?: { readonly parentPath: string; readonly page: ListPage };
}

/** How many resources of a type are found by the start of a name. */
const mostOfType = 5;

/** How many calls of a search run at once. */
const maxCalls = 4;

/** Resources without a parent that are found by the start of their names. */
const namedOnPlatform: ReadonlySet<ResourceType> = new Set(["Org", "Customer", "Service"]);

export function createSearchService({ registry, ofCaller }: SearchDependencies): ServiceImpl<typeof SearchService> {
  const finders = createFinders(registry);
  return {
    async searchResources({ query }, context) {
      const references = targetOf(context, patterns.Org);
      const org = references[0].by === "any" ? undefined : formatReferences(patterns.Org, references);
      const steps = stepsOf(finders, org, readQuery(query));
      const run = async ({ finder, match, path, list }: Step): Promise<readonly FoundResource[]> => {
        const got = path === undefined ? "denied" : await getFound(ofCaller, finder, path, match, context);
        if (got !== "denied") return got;
        return list === undefined ? [] : listFound(ofCaller, finder, list.parentPath, list.page, match, context);
      };
      const found = (await pMap(steps, run, { concurrency: maxCalls })).flat();
      // The sort keeps the order of the lists. What is found in several ways is shown as the first of them.
      const results = found.toSorted((one, other) => one.match - other.match);
      return { results: results.filter(({ path }, at) => results.findIndex((each) => each.path === path) === at) };
    },
  };
}

/** @param org its path; undefined for all orgs. */
function stepsOf(finders: readonly Finder[], org: string | undefined, query: SearchQuery): Step[] {
  const { path, id, keyPrefix } = query;
  if (keyPrefix !== undefined) {
    const list = { parentPath: `${org ?? "/orgs/-"}/members/-`, page: pageOf(`prefix = "${keyPrefix}"`) };
    return finders.filter(({ type }) => type === "ApiKey").map((finder) => ({ finder, match: Match.KEY_PREFIX, list }));
  }
  return finders.flatMap((finder) => {
    const steps: Step[] = [];
    for (const pattern of finder.patterns) {
      if (path !== undefined && isOf(pattern, path))
        steps.push({ finder, match: Match.PATH, path: `/${path.join("/")}` });
      if (id !== undefined && hasOwnIds(pattern, org))
        steps.push({ finder, match: Match.ID, ...callsById(pattern, id, org) });
    }
    return [...steps, ...stepsByName(finder, org, query)];
  });
}

function stepsByName(finder: Finder, org: string | undefined, { name, displayNames }: SearchQuery): Step[] {
  const {
    type,
    patterns: [pattern],
    isNamed,
  } = finder;
  const isHere = org === undefined ? namedOnPlatform.has(type) : pattern?.length === 2 && pattern[0] === "orgs";
  if (!isNamed || !isHere) return [];
  const by = (match: Match, page: ListPage): Step => ({ finder, match, list: { parentPath: org ?? "", page } });
  return [
    ...(name === undefined ? [] : [by(Match.NAME, pageFrom("name", name))]),
    ...displayNames.map((start) => by(Match.DISPLAY_NAME, pageFrom("display_name", start))),
  ];
}

/** After all texts with the same start, in the order by code point. */
const last = "\u{10ffff}";

/** A page of what begins so: a range of an index, in its order. */
function pageFrom(field: string, start: string): ListPage {
  const filter = `${field} >= ${quote(start)} AND ${field} < ${quote(start + last)}`;
  return pageOf(filter, field);
}

function pageOf(filter: string, orderBy = ""): ListPage {
  return { pageSize: mostOfType, filter, orderBy };
}

const quote = (text: string): string => `"${text.replaceAll(/["'*\\]/g, String.raw`\$&`)}"`;

/** Reports whether segments are a path of a pattern. */
function isOf(pattern: PathPattern, segments: readonly string[]): boolean {
  return (
    segments.length === pattern.length * 2 && pattern.every((collection, level) => segments[level * 2] === collection)
  );
}

/** Reports whether an id names one resource of a pattern, in an org if one is given. */
function hasOwnIds(pattern: PathPattern, org: string | undefined): boolean {
  return !sharesIds(pattern) && (org === undefined || pattern[0] === "orgs");
}

/**
 * Returns how a resource is found by its id. To get `/orgs/-/members/@<id>` requires the permission on the platform; who holds it in some
 * orgs lists it in these.
 */
function callsById(pattern: PathPattern, id: string, org: string | undefined): Pick<Step, "path" | "list"> {
  const [top, ...below] = pattern;
  const collection = below.pop();
  if (collection === undefined) return { path: `/${top}/@${id}` };
  const parentPath = `${org ?? `/${top}/-`}${below.map((each) => `/${each}/-`).join("")}`;
  const path = `${parentPath}/${collection}/@${id}`;
  return org === undefined ? { path, list: { parentPath, page: pageOf(`id = "${id}"`) } } : { path };
}
