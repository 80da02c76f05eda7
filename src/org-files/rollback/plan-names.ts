// Plans what gives resources their names: undeletions and renames.
import { type Message, clone } from "@bufbuild/protobuf";
import { type Steps, createStepCounter } from "../../scheduling/steps.ts";
import { findChangedValues } from "../changed-values.ts";
import { type FileType, fileForms, parentPathOf } from "../file-resources.ts";
import type { PlannedChange } from "../planned-change.ts";
import { endOf, isDeleted } from "./find-wanted.ts";
import { type NamedItem, orderNames } from "./order-names.ts";
import type { SideResource } from "./read-sides.ts";
import type { RollbackState } from "./rollback-state.ts";

interface Item extends NamedItem {
  readonly path: string;
  readonly resource: SideResource;
}

/**
 * Returns the changes by type, and the names that something else has that stays, in sentences.
 */
export function* planNames(
  state: RollbackState,
): Steps<{ readonly names: ReadonlyMap<FileType, readonly PlannedChange[]>; readonly taken: readonly string[] }> {
  const siblings = yield* findSiblings(state);
  const names = new Map<FileType, PlannedChange[]>();
  const taken: string[] = [];
  const isStepOver = createStepCounter();
  for (const items of siblings.values()) {
    if (isStepOver()) yield;
    const holders = new Map<string, Item>();
    const conflicts = items.filter((item) => {
      if (item.wanted === undefined) return false;
      const other = holders.get(item.wanted);
      if (other === undefined) holders.set(item.wanted, item);
      return other !== undefined;
    });
    taken.push(...conflicts.map(({ wanted = "", path }) => takenBy(state, path, required(holders, wanted))));
    if (conflicts.length > 0) continue;
    for (const { item, rename } of orderNames(items)) {
      const changes = names.get(item.resource.type) ?? [];
      names.set(item.resource.type, changes);
      changes.push(rename === undefined ? undeletionOf(state, item) : renameOf(state, item, rename));
    }
  }
  return { names, taken };
}

function required(holders: ReadonlyMap<string, Item>, name: string): Item {
  const holder = holders.get(name);
  if (holder === undefined) throw new Error(`nothing holds the name ${name}`);
  return holder;
}

/** One of the two stays as it is. */
function takenBy({ shown, wanted }: RollbackState, path: string, other: Item): string {
  const [led, stays] = wanted.has(path) ? [path, other.path] : [other.path, path];
  const name = wanted.get(led)?.name ?? "";
  return `${shown(led)} was called ${name}, and ${shown(stays)}, which stays, has that name`;
}

/** Returns what shares names, by its parent and type. */
function* findSiblings({ sides, wanted, standing, removed, nowMs }: RollbackState): Steps<ReadonlyMap<string, Item[]>> {
  const isStepOver = createStepCounter();
  const siblings = new Map<string, Item[]>();
  const add = (resource: SideResource, item: Omit<NamedItem, "id">): void => {
    const { type, path, id, name } = resource;
    if (name === "") return;
    const key = `${type} ${parentPathOf(path)}`;
    const items = siblings.get(key) ?? [];
    siblings.set(key, items);
    items.push({ id, path, resource, ...item });
  };
  for (const resource of sides.now.values()) {
    if (isStepOver()) yield;
    // A creation removes what has ended and still has the name.
    if (endOf(resource) <= nowMs) continue;
    const { path, name } = resource;
    const wantedName = wanted.get(path)?.name ?? (removed.has(path) ? undefined : name);
    if (!isDeleted(resource)) add(resource, { held: name, wanted: wantedName });
    else if (standing.has(path)) add(resource, { held: undefined, deletedWith: name, wanted: wantedName });
  }
  for (const resource of wanted.values()) {
    if (isStepOver()) yield;
    const isCreated = !standing.has(resource.path);
    if (isCreated) add(resource, { held: undefined, wanted: resource.name, isCreated });
  }
  return siblings;
}

function undeletionOf({ shown }: RollbackState, { path, resource: { type } }: Item): PlannedChange {
  const nothing = { message: undefined, sent: undefined, place: "", fields: [] };
  return { action: "undelete", type, path: shown(path), callPath: path, ...nothing };
}

function renameOf({ shown }: RollbackState, { path, resource }: Item, newName: string): PlannedChange {
  const { type, message: before } = resource;
  const { schema } = fileForms[type];
  const message: Message = Object.assign(clone(schema, before), { name: newName });
  const fields = ["name"];
  const rest = {
    message,
    sent: message,
    place: "",
    fields,
    values: findChangedValues(schema, fields, before, message),
  };
  return { action: "update", type, path: shown(path), callPath: path, ...rest };
}
