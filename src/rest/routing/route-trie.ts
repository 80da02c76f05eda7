import type { PathSegment, PathTemplate, PathVariable } from "./path-template.ts";
import { decodePercent, decodePercentKeepingSlashes } from "./percent-encoding.ts";

/**
 * Finds the route of a path. In each segment a literal is preferred to `*`, and `*` to `**`; a choice that leads
 * nowhere, also because the HTTP method or the verb has no rule there, is taken back.
 *
 * Routes are a tree of segments. A `**` takes whatever its literals after it leave, so those are a second tree that is
 * read from the end of the path. A node stands for exactly one position in the path, therefore no node is visited twice
 * and a match costs as much as the path is long, however many routes there are.
 */
export interface RouteTrie<Route> {
  /** @throws Error when a route for the same method and the same paths is there already; `name` says which, to people. */
  add(method: string, template: PathTemplate, route: Route, name: string): void;
  /** `path` starts with "/", has no query and no broken percent-encoding. */
  match(method: string, path: string): RouteMatch<Route> | RouteMiss;
}

export interface RouteMatch<Route> {
  readonly route: Route;
  /** What the template's variables captured, decoded, in their order. */
  readonly values: readonly string[];
}

interface RouteMiss {
  readonly route: undefined;
  /** The methods that have a rule for this path; empty when there is no such path. */
  readonly allow: readonly string[];
}

/** The HTTP method of a rule that takes any method. */
const anyMethod = "*";

interface Entry<Route> {
  readonly route: Route;
  readonly name: string;
  readonly template: PathTemplate;
  /** Index of `**`; one past the last segment when there is none. */
  readonly deep: number;
}

/** Routes that end at a node: by verb, then by method. */
type Endings<Route> = Map<string, Map<string, Entry<Route>>>;

interface Node<Route> {
  readonly literals: Map<string, Node<Route>>;
  wildcard: Node<Route> | undefined;
  readonly endings: Endings<Route>;
  tail: Tail<Route> | undefined;
}

/** What follows `**`, last segment first. */
interface Tail<Route> {
  readonly literals: Map<string, Tail<Route>>;
  readonly endings: Endings<Route>;
}

/** The state of one match. Positions are offsets into the path. */
interface Search<Route> {
  readonly path: string;
  readonly method: string;
  readonly verb: string;
  /** Where the path ends and the verb starts. */
  readonly end: number;
  /** Where each segment starts, from the first on. */
  readonly starts: number[];
  /** Where each segment starts that follows `**`, from the last on. */
  readonly tailStarts: number[];
  readonly missed: Map<string, Entry<Route>>[];
}

export function createRouteTrie<Route>(): RouteTrie<Route> {
  const root = createNode<Route>();
  const verbs = new Set<string>();
  /** How many ":" a registered verb can need, its first one included. */
  let verbColons = 0;

  function add(method: string, template: PathTemplate, route: Route, name: string): void {
    const endings = endingsOf(root, template.segments);
    const byMethod = getOrAdd(endings, template.verb, () => new Map<string, Entry<Route>>());
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
    const missed: Map<string, Entry<Route>>[] = [];
    const found = searchWithVerbs(method, path, missed) ?? searchUpTo(method, path, path.length, "", missed);
    if (found !== undefined) return found;
    const allow = new Set<string>();
    for (const byMethod of missed) for (const allowed of byMethod.keys()) allow.add(allowed);
    return { route: undefined, allow: [...allow] };
  }

  /** Reads the end of the last segment as a verb where it is one, the longest first. */
  function searchWithVerbs(
    method: string,
    path: string,
    missed: Map<string, Entry<Route>>[],
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
    missed: Map<string, Entry<Route>>[],
  ): RouteMatch<Route> | undefined {
    const search: Search<Route> = { path, method, verb, end, starts: [], tailStarts: [], missed };
    const entry = visit(search, root, 0, 0);
    if (entry === undefined) return undefined;
    return { route: entry.route, values: entry.template.variables.map((variable) => capture(search, entry, variable)) };
  }

  return { add, match };
}

function createNode<Route>(): Node<Route> {
  return { literals: new Map(), wildcard: undefined, endings: new Map(), tail: undefined };
}

function createTail<Route>(): Tail<Route> {
  return { literals: new Map(), endings: new Map() };
}

/** The endings of the node for `segments`, which is made when it is not there. */
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

/** Matches what follows `position`, which is the slash before a segment or the end. */
function visit<Route>(
  search: Search<Route>,
  node: Node<Route>,
  position: number,
  depth: number,
): Entry<Route> | undefined {
  const { path, end } = search;
  search.starts[depth] = position + 1;
  if (position === end) {
    const entry = entryOf(search, node.endings);
    if (entry !== undefined) return entry;
  } else if (node.literals.size > 0 || node.wildcard !== undefined) {
    const slash = path.indexOf("/", position + 1);
    const next = slash === -1 || slash > end ? end : slash;
    const literal = node.literals.get(readSegment(path, position + 1, next));
    const entry =
      (literal && visit(search, literal, next, depth + 1)) ??
      (node.wildcard !== undefined && next > position + 1 ? visit(search, node.wildcard, next, depth + 1) : undefined);
    if (entry !== undefined) return entry;
  }
  return node.tail === undefined ? undefined : visitTail(search, node.tail, position, end, 0);
}

/** Matches the segments after `**` from the end on; `**` takes what is left between `floor` and `ceiling`. */
function visitTail<Route>(
  search: Search<Route>,
  tail: Tail<Route>,
  floor: number,
  ceiling: number,
  depth: number,
): Entry<Route> | undefined {
  if (ceiling > floor && tail.literals.size > 0) {
    const slash = search.path.lastIndexOf("/", ceiling - 1);
    const literal = tail.literals.get(readSegment(search.path, slash + 1, ceiling));
    search.tailStarts[depth] = slash + 1;
    const entry = literal && visitTail(search, literal, floor, slash, depth + 1);
    if (entry !== undefined) return entry;
  }
  return entryOf(search, tail.endings);
}

function entryOf<Route>(search: Search<Route>, endings: Endings<Route>): Entry<Route> | undefined {
  const byMethod = endings.get(search.verb);
  if (byMethod === undefined) return undefined;
  const entry = byMethod.get(search.method) ?? byMethod.get(anyMethod);
  if (entry === undefined) search.missed.push(byMethod);
  return entry;
}

function readSegment(path: string, start: number, end: number): string {
  const raw = path.slice(start, end);
  return decodePercent(raw) ?? raw;
}

function capture<Route>(search: Search<Route>, entry: Entry<Route>, variable: PathVariable): string {
  const count = entry.template.segments.length;
  const start = startOf(search, entry, variable.start);
  const end = variable.end === count ? search.end : startOf(search, entry, variable.end) - 1;
  const raw = search.path.slice(start, end);
  return (variable.single ? decodePercent(raw) : decodePercentKeepingSlashes(raw)) ?? raw;
}

/** Where the template's segment `index` starts in the path: counted from the end when it follows `**`. */
function startOf<Route>(search: Search<Route>, entry: Entry<Route>, index: number): number {
  const start =
    index <= entry.deep ? search.starts[index] : search.tailStarts[entry.template.segments.length - 1 - index];
  return start ?? search.end;
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
