import type { PathSegment, PathTemplate, PathVariable } from "./path-template.ts";
import { decodePercent, decodePercentKeepingSlashes } from "./percent-encoding.ts";

/**
 * Finds the route of a path. In each segment, a literal is preferred to `*`, and `*` to `**`. The search backtracks if a
 * choice leads to no route, including when there is no rule for the HTTP method or the verb.
 *
 * Routes form a tree of segments. The literals after a `**` form a second tree, which is read from the end of the path;
 * `**` matches the segments in between. Each node corresponds to exactly one position in the path, so a search visits no
 * node twice. Its cost depends on the length of the path and on how many alternatives match it, not on the total number
 * of routes.
 */
export interface RouteTrie<Route> {
  /**
   * @param name identifies the route in errors.
   * @throws Error if there is a route for the same method and the same paths already.
   */
  add(method: string, template: PathTemplate, route: Route, name: string): void;
  /** @param path starts with "/", has no query, and its percent-encoding is valid. */
  match(method: string, path: string): RouteMatch<Route> | RouteMiss;
  /** Returns what could be in a path that no rule matches. */
  offer(path: string): RouteOffer;
}

interface RouteOffer {
  /** The beginning of the path up to which it leads to a rule. */
  readonly reached: string;
  /** The literals that can follow it. */
  readonly next: readonly string[];
  /** The verbs that can follow the last ":", unless one does. */
  readonly verbs: readonly string[];
}

export interface RouteMatch<Route> {
  readonly route: Route;
  /** The decoded values that the variables of the template captured, in the order of the variables. */
  readonly values: readonly string[];
}

interface RouteMiss {
  readonly route: undefined;
  /** The HTTP methods that have a rule for this path; empty if no rule matches the path. */
  readonly allow: readonly string[];
}

/** The HTTP method of a rule for any method. */
const anyMethod = "*";

/** A route and the template at which it is. */
interface Placed<Route> {
  readonly route: Route;
  readonly name: string;
  readonly template: PathTemplate;
  /** Index of `**`; the number of segments if there is none. */
  readonly deep: number;
}

/** The routes that end at a node, by verb and then by HTTP method. */
type Endings<Route> = Map<string, Map<string, Placed<Route>>>;

interface Node<Route> {
  readonly literals: Map<string, Node<Route>>;
  wildcard: Node<Route> | undefined;
  readonly endings: Endings<Route>;
  tail: Tail<Route> | undefined;
}

/** The literals that follow `**`, last segment first. */
interface Tail<Route> {
  readonly literals: Map<string, Tail<Route>>;
  readonly endings: Endings<Route>;
}

/** The state of one match. Positions are offsets into the path. */
interface Search<Route> {
  readonly path: string;
  readonly method: string;
  readonly verb: string;
  /** The end of the path without the verb. */
  readonly end: number;
  readonly starts: number[];
  /** The start of each segment after `**`, beginning with the last. */
  readonly tailStarts: number[];
  readonly missed: Map<string, Placed<Route>>[];
}

export function createRouteTrie<Route>(): RouteTrie<Route> {
  const root = createNode<Route>();
  const verbs = new Set<string>();
  /** The maximum number of ":" in a registered verb, including the one that starts it. */
  let verbColons = 0;

  function add(method: string, template: PathTemplate, route: Route, name: string): void {
    const endings = endingsOf(root, template.segments);
    const byMethod = getOrAdd(endings, template.verb, () => new Map<string, Placed<Route>>());
    const other = byMethod.get(method);
    if (other !== undefined) {
      const both = `${method} ${template.text} of ${name} and ${method} ${other.template.text} of ${other.name}`;
      throw new Error(`${both} match the same paths`);
    }
    const deep = template.segments.findIndex((segment) => segment.kind === "**");
    byMethod.set(method, { route, name, template, deep: deep === -1 ? template.segments.length : deep });
    if (template.verb !== "") {
      verbs.add(template.verb);
      verbColons = Math.max(verbColons, template.verb.split(":").length);
    }
  }

  function match(method: string, path: string): RouteMatch<Route> | RouteMiss {
    const missed: Map<string, Placed<Route>>[] = [];
    const withVerb = searchWithVerbs(method, path, missed);
    // If a rule for another HTTP method reads the end of the path as a verb, it is not read as part of a name.
    const found = withVerb ?? (missed.length > 0 ? undefined : searchUpTo(method, path, path.length, "", missed));
    if (found !== undefined) return found;
    const allow = new Set<string>();
    for (const byMethod of missed) for (const allowed of byMethod.keys()) allow.add(allowed);
    return { route: undefined, allow: [...allow] };
  }

  /** Searches with each registered verb that the path ends with, the longest first. */
  function searchWithVerbs(
    method: string,
    path: string,
    missed: Map<string, Placed<Route>>[],
  ): RouteMatch<Route> | undefined {
    const colons = [];
    const lastSlash = verbColons === 0 ? path.length : path.lastIndexOf("/");
    let colon = path.length;
    while (colons.length < verbColons && (colon = path.lastIndexOf(":", colon - 1)) > lastSlash) colons.push(colon);
    for (const end of colons.toReversed()) {
      const verb = decodePercent(path.slice(end + 1));
      if (verb === undefined || !verbs.has(verb)) continue;
      const found = searchUpTo(method, path, end, verb, missed);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function searchUpTo(
    method: string,
    path: string,
    end: number,
    verb: string,
    missed: Map<string, Placed<Route>>[],
  ): RouteMatch<Route> | undefined {
    const search: Search<Route> = { path, method, verb, end, starts: [], tailStarts: [], missed };
    const found = visit(search, root, 0, 0);
    if (found === undefined) return undefined;
    return { route: found.route, values: found.template.variables.map((variable) => capture(search, found, variable)) };
  }

  /** Follows a path, up to a position, as far as it leads. Returns where it ends and the nodes there. */
  function follow(path: string, end: number): { readonly position: number; readonly nodes: readonly Node<Route>[] } {
    let nodes: readonly Node<Route>[] = [root];
    let position = 0;
    while (position < end) {
      const slash = path.indexOf("/", position + 1);
      const next = slash === -1 || slash > end ? end : slash;
      const segment = readSegment(path, position + 1, next);
      const following = nodes.flatMap(({ literals, wildcard }) => [literals.get(segment) ?? [], wildcard ?? []].flat());
      if (following.length === 0 || segment === "") break;
      nodes = following;
      position = next;
    }
    return { position, nodes };
  }

  function offer(path: string): RouteOffer {
    const { position, nodes } = follow(path, path.length);
    const colon = path.lastIndexOf(":");
    const beforeVerb = colon > path.lastIndexOf("/") ? follow(path, colon) : undefined;
    const ended = beforeVerb?.position === colon ? beforeVerb.nodes : [];
    const offered = distinct(ended.flatMap(({ endings }) => [...endings.keys()])).filter((verb) => verb !== "");
    return {
      reached: path.slice(0, position),
      next: distinct(nodes.flatMap(({ literals }) => [...literals.keys()])),
      verbs: offered.includes(path.slice(colon + 1)) ? [] : offered,
    };
  }

  return { add, match, offer };
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

function createNode<Route>(): Node<Route> {
  return { literals: new Map(), wildcard: undefined, endings: new Map(), tail: undefined };
}

function createTail<Route>(): Tail<Route> {
  return { literals: new Map(), endings: new Map() };
}

/** Returns the endings of the node for `segments`. Creates the node if it does not exist. */
function endingsOf<Route>(root: Node<Route>, segments: readonly PathSegment[]): Endings<Route> {
  let node = root;
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === "**") {
      let tail = (node.tail ??= createTail());
      for (const after of segments.slice(index + 1).toReversed()) {
        if (after.kind === "literal") tail = getOrAdd(tail.literals, after.value, createTail<Route>);
      }
      return tail.endings;
    }
    node =
      segment.kind === "*"
        ? (node.wildcard ??= createNode())
        : getOrAdd(node.literals, segment.value, createNode<Route>);
  }
  return node.endings;
}

/** Matches the rest of the path from `position`, which is the slash before a segment or the end of the path. */
function visit<Route>(
  search: Search<Route>,
  node: Node<Route>,
  position: number,
  depth: number,
): Placed<Route> | undefined {
  const { path, end } = search;
  search.starts[depth] = position + 1;
  if (position === end) {
    const placed = placedOf(search, node.endings);
    if (placed !== undefined) return placed;
  } else if (node.literals.size > 0 || node.wildcard !== undefined) {
    const slash = path.indexOf("/", position + 1);
    const next = slash === -1 || slash > end ? end : slash;
    const literal = node.literals.get(readSegment(path, position + 1, next));
    const placed =
      (literal && visit(search, literal, next, depth + 1)) ??
      (node.wildcard !== undefined && next > position + 1 ? visit(search, node.wildcard, next, depth + 1) : undefined);
    if (placed !== undefined) return placed;
  }
  return node.tail === undefined ? undefined : visitTail(search, node.tail, position, end, 0);
}

/** Matches the segments after `**`, backwards from the end. `**` matches the rest between `floor` and `ceiling`. */
function visitTail<Route>(
  search: Search<Route>,
  tail: Tail<Route>,
  floor: number,
  ceiling: number,
  depth: number,
): Placed<Route> | undefined {
  if (ceiling > floor && tail.literals.size > 0) {
    const slash = search.path.lastIndexOf("/", ceiling - 1);
    const literal = tail.literals.get(readSegment(search.path, slash + 1, ceiling));
    search.tailStarts[depth] = slash + 1;
    const placed = literal && visitTail(search, literal, floor, slash, depth + 1);
    if (placed !== undefined) return placed;
  }
  return placedOf(search, tail.endings);
}

function placedOf<Route>(search: Search<Route>, endings: Endings<Route>): Placed<Route> | undefined {
  const byMethod = endings.get(search.verb);
  if (byMethod === undefined) return undefined;
  const placed = byMethod.get(search.method) ?? byMethod.get(anyMethod);
  if (placed === undefined) search.missed.push(byMethod);
  return placed;
}

function readSegment(path: string, start: number, end: number): string {
  const raw = path.slice(start, end);
  return decodePercent(raw) ?? raw;
}

function capture<Route>(search: Search<Route>, placed: Placed<Route>, variable: PathVariable): string {
  const count = placed.template.segments.length;
  const start = startOf(search, placed, variable.start);
  const end = variable.end === count ? search.end : startOf(search, placed, variable.end) - 1;
  const raw = search.path.slice(start, end);
  return (variable.single ? decodePercent(raw) : decodePercentKeepingSlashes(raw)) ?? raw;
}

/** Returns where segment `index` of the template starts in the path. Segments after `**` are counted from the end. */
function startOf<Route>(search: Search<Route>, placed: Placed<Route>, index: number): number {
  const start =
    index <= placed.deep ? search.starts[index] : search.tailStarts[placed.template.segments.length - 1 - index];
  return start ?? search.end;
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
