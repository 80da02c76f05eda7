import { type JsonValue, type Message, type MessageInitShape, create, toJson } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { isObject } from "./rest-call.ts";

/**
 * Returns which fields of a resource differ from those that it had, so that an update changes no other ones.
 *
 * @param fields those that somebody could change, by their names in the API, such as `display_name`.
 */
export function changedFields<Resource extends Message>(
  schema: GenMessage<Resource>,
  before: Resource,
  after: MessageInitShape<GenMessage<NoInfer<Resource>>>,
  fields: readonly string[],
): string[] {
  const valuesOf = (resource: Resource) => {
    const json = toJson(schema, resource, { useProtoFieldName: true });
    return fields.map((field) => JSON.stringify(isObject(json) ? json[field] : undefined, inOrder));
  };
  const [were, are] = [valuesOf(before), valuesOf(create(schema, after))];
  return fields.filter((_, index) => were[index] !== are[index]);
}

/** Maps have no order: those with the same entries are written alike. */
const inOrder = (_key: string, value: JsonValue | undefined): JsonValue | undefined =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;
