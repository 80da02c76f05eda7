// Where the places that errors name are in the text of a file: `groups[2].members[0]` begins in line 12. A key of a map is named as in
// `quota["cpu_cores"]`.
import { type Document, LineCounter, type Node, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from "yaml";

/** A file that was read. */
export interface SourceText {
  /** Its path, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Returns a place with its file and line, `acme.yaml:12: groups[2]`.
 *
 * @param key in it, whose line is meant; undefined for that of the place itself.
 */
export type NamePlace = (place: string, key?: string) => string;

/** Creates the function for any number of places of a file. Its text must be YAML or JSON. */
export function createPlaceNames({ name, text }: SourceText): NamePlace {
  const lines = new LineCounter();
  let document: Document | undefined;
  return (place, key) => {
    document ??= parseDocument(text, { lineCounter: lines });
    const offset = findOffset(document, place, key);
    const at = offset === undefined ? name : `${name}:${lines.linePos(offset).line}`;
    return place === "" ? at : `${at}: ${place}`;
  };
}

/** Returns where a place begins, or what it is in if the text does not have it; undefined for the file itself. */
function findOffset(document: Document, place: string, key: string | undefined): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  const enter = (found: Found | undefined): boolean => {
    if (found !== undefined) [node, offset] = [found.value, found.offset ?? offset];
    return found !== undefined;
  };
  for (const [, name, index, quoted] of place.matchAll(/\.?([A-Za-z_]\w*)|\[(\d+)\]|\["([^"\\]*)"\]/gy)) {
    const inside = resolve(node, document);
    if (!enter(index === undefined ? entryOf(inside, name ?? quoted ?? "") : itemOf(inside, index))) return offset;
  }
  if (key !== undefined) enter(entryOf(resolve(node, document), key));
  return offset;
}

interface Found {
  readonly value: unknown;
  readonly offset: number | undefined;
}

function entryOf(node: unknown, name: string): Found | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  return pair && { value: pair.value, offset: startOf(pair.key) };
}

function itemOf(node: unknown, index: string): Found | undefined {
  const item: unknown = isSeq(node) ? node.items[Number(index)] : undefined;
  return item === undefined ? undefined : { value: item, offset: startOf(item) };
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

function resolve(node: unknown, document: Document): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isNode(node) ? node : undefined;
}
