// Writes of all resources that can be sent with different options, for the tests of what all writes have in common. One table has
// all resources, so a resource that behaves differently fails.
import { OperationSchema } from "../../gen/resources/v1alpha/operation_pb.ts";
import { uniqueName } from "../support/api.ts";
import { type Failure, failureOf } from "../support/failure.ts";
import { ofEachShape } from "../support/resource-shapes.ts";
import { rounds } from "../support/rounds.ts";
import type { SqlClient } from "../support/sql.ts";
import type { Item, Workplace, WriteOptions } from "../support/workplace.ts";
import { type Verb, type WrittenResource, maskOf, verbsOf, writtenResources } from "../support/written-resources.ts";

export const cases = writtenResources.map((resource) => ({ name: resource.name, resource, verbs: verbsOf(resource) }));

/**
 * Returns the verbs of a resource that a test of a long table takes: one of them, by turns, and in `npm run soak` all. The options of
 * writes are one implementation.
 *
 * @param turn another number for each test, so that each meets all verbs, and each resource of a table all tests.
 */
export function verbsInTurn({ type }: WrittenResource, verbs: readonly Verb[], turn: number): readonly Verb[] {
  const first = ofEachShape(cases).findIndex(({ resource }) => resource.type === type) + turn;
  return rounds(
    verbs.filter((_, index) => index === first % verbs.length),
    verbs,
  );
}

export type Write = (options?: WriteOptions) => Promise<Item>;

/** A write that can be sent, and its item. */
interface Prepared {
  readonly name: string;
  readonly path: string;
  readonly write: Write;
}

export async function prepare(verb: Verb, resource: WrittenResource, place: Workplace): Promise<Prepared> {
  const name = uniqueName("item");
  const path = place.pathOf(name);
  await place.makeWay(name);
  if (verb !== "Create") await place.create(name);
  return { name, path, write: writeOf(verb, resource, place, name, path) };
}

export function writeOf(verb: Verb, { change }: WrittenResource, place: Workplace, name: string, path: string): Write {
  switch (verb) {
    case "Create":
      return (options) => place.startCreate(name, options);
    case "Update":
      return (options) => place.update(path, change, { ...options, updateMask: maskOf(change) });
    case "Delete":
      return (options) => place.startDelete(path, options);
  }
}

/** Creates an item. */
export async function createItem(place: Workplace): Promise<Item> {
  const name = uniqueName("item");
  await place.makeWay(name);
  return place.create(name);
}

/** Returns a response without the fields that may differ between two equal calls. */
export function comparable(answer: Item, verb: Verb): object {
  const { etag: _etag, accessPreview: _preview, ...rest } = answer as Item & { accessPreview?: unknown };
  const isOperation = answer.$typeName === OperationSchema.typeName;
  const times = new Set(["createTime", "updateTime", "deleteTime", "purgeTime", "nextAttemptTime"]);
  // Both must have one, or neither.
  const shown = Object.entries(rest).map(([key, value]) => [key, times.has(key) ? typeof value : value]);
  const { id, secret, prefix, ...fields } = Object.fromEntries(shown) as Record<string, unknown>;
  // An Operation is a new one, whatever it does, and its path has its id.
  if (isOperation) return { ...fields, path: typeof fields["path"] };
  return { ...fields, ...(verb === "Create" ? { secret: typeof secret, prefix: typeof prefix } : { id }) };
}

export const withoutSecret = ({ secret: _secret, ...rest }: Item): object => rest;

/** Returns a failure without what differs from call to call. */
export const reportOf = async (call: Promise<unknown>): Promise<Failure> => ({
  ...(await failureOf(call)),
  requestId: "",
});

/** Returns how many lines of the change logs are about resources of this type. */
export async function countChanges(sql: SqlClient, { type }: WrittenResource): Promise<number> {
  const [row] = await sql.query("select count(*)::int as count from changes where resource_type = $1", [type]);
  return Number(row?.["count"]);
}
