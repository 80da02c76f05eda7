// The fields of a method that can be given as flags. The console, which shows the command of what it did, knows them from here, too.
import type { Contract, Field, Method } from "./contract.ts";
import { sharedFields } from "./shared-fields.ts";

/** The fields that other flags set, or that the command line fills in. */
const givenOtherwise: ReadonlySet<string> = new Set(["page_token", "update_mask", "as_of_revision", "as_of_time"]);

/** Returns the fields of a method that can be given as flags: those of its resource, and of the request. */
export function fieldsOf({ messages }: Contract, method: Method): readonly Field[] {
  const ofResource = method.resource === undefined ? [] : (messages[method.resource] ?? []);
  const isUpdate = method.verb === "update";
  const settable = ofResource.filter(
    ({ mode, name }) => mode !== "output" && !(isUpdate && mode === "immutable") && (isUpdate || name !== "etag"),
  );
  const ofRequest = method.fields.map((each) => (typeof each === "string" ? sharedFields[each] : each));
  const own = ofRequest.filter((each) => each !== undefined && !givenOtherwise.has(each.name));
  return [...settable, ...own.filter((each) => each !== undefined)];
}

/** Reports whether a field is given by its flag alone. */
export function isSwitch({ type, shape }: Field): boolean {
  return type === "boolean" && shape === undefined;
}
