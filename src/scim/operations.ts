// The operations of a PATCH (RFC 7644, 3.5.2), with what directories send besides: verbs in capitals, and paths as keys of a value.
import { scimFault } from "./errors.ts";
import { type AttributePath, parsePath } from "./filter.ts";
import { type Given, attributeOf, isObject } from "./json.ts";
import { urns } from "./schemas.ts";

export interface Operation {
  readonly verb: "add" | "replace" | "remove";
  readonly path: AttributePath;
  /** Undefined if none was sent. */
  readonly value: unknown;
}

const maxOperations = 1_000;

/** Of each resource, and set by the service. */
const ofService: ReadonlySet<string> = new Set(["schemas", "id", "meta"]);

/** @throws ServiceError FIELD_INVALID with `invalidSyntax`, `invalidPath` or `noTarget` */
export function readOperations(body: Given, core: string): readonly Operation[] {
  const given = attributeOf(body, "Operations");
  if (!Array.isArray(given) || given.length === 0) {
    throw scimFault("invalidSyntax", "Operations must be an array of at least one operation");
  }
  if (given.length > maxOperations) throw scimFault("tooMany", `Operations must have at most ${maxOperations} items`);
  const operations: Operation[] = [];
  for (const each of given as readonly unknown[]) readOperation(each, core, operations);
  return operations;
}

/** Adds the operations that one stands for. */
function readOperation(given: unknown, core: string, operations: Operation[]): void {
  if (!isObject(given)) throw scimFault("invalidSyntax", "each of Operations must be an object");
  const verb = readVerb(attributeOf(given, "op"));
  const path = attributeOf(given, "path");
  const value = attributeOf(given, "value");
  if (verb === "replace" && value === undefined) {
    throw scimFault("invalidValue", "an operation that replaces must have a value; null removes what is there");
  }
  if (path !== undefined && path !== null && path !== "") {
    if (typeof path !== "string") throw scimFault("invalidPath", "a path must be a text");
    push(operations, { verb, path: inCore(parsePath(path), core), value });
    return;
  }
  if (verb === "remove") throw scimFault("noTarget", "an operation that removes must have a path");
  if (!isObject(value)) throw scimFault("invalidValue", "the value of an operation without a path must be an object");
  for (const [key, each] of Object.entries(value)) {
    if (key.toLowerCase() !== core.toLowerCase() || !isObject(each)) readKey(key, each, verb, core, operations);
    // The schema of the resource has attributes, and no schema inside.
    else for (const [name, one] of Object.entries(each)) readKey(name, one, verb, "", operations);
  }
}

/** Adds the operation of a key of a value, which is a path. */
function readKey(key: string, value: unknown, verb: Operation["verb"], core: string, operations: Operation[]): void {
  const name = key.toLowerCase();
  if (ofService.has(name) || name === urns.enterprise.toLowerCase()) return;
  push(operations, { verb, path: inCore(parsePath(key), core), value });
}

/** @throws ServiceError FIELD_INVALID with `tooMany` before a long request is read to its end. */
function push(operations: Operation[], operation: Operation): void {
  operations.push(operation);
  if (operations.length > maxOperations) {
    throw scimFault("tooMany", `Operations must change at most ${maxOperations} attributes`);
  }
}

function readVerb(verb: unknown): Operation["verb"] {
  const text = typeof verb === "string" ? verb.toLowerCase() : "";
  if (text === "add" || text === "replace" || text === "remove") return text;
  throw scimFault("invalidSyntax", "the op of an operation must be add, replace or remove");
}

/** Returns a path without the schema of the resource. @throws ServiceError FIELD_INVALID with `invalidPath` */
function inCore(path: AttributePath, core: string): AttributePath {
  if (path.schema === core.toLowerCase()) return { ...path, schema: "" };
  if (path.schema === "" || path.schema === urns.enterprise.toLowerCase()) return path;
  throw scimFault("invalidPath", `there is no schema ${path.schema}`);
}

/** @throws ServiceError FIELD_INVALID with `invalidPath` */
export function unknownAttribute({ name, part }: AttributePath, known: readonly string[]): never {
  const called = part === undefined ? name : `${name}.${part}`;
  throw scimFault("invalidPath", `there is no attribute ${called} that can be changed; there are ${known.join(", ")}`);
}
