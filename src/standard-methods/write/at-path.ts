import { type DescMessage, type MessageShape, clone } from "@bufbuild/protobuf";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import type { ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ServedResource } from "../rules.ts";

/** Returns the resource that an Update with `allow_missing` creates, with the name in its path. */
export function messageAtPath<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, place, rules }: ServedResource<Table, Row, Desc>,
  path: readonly Reference[],
  patch: MessageShape<Desc>,
  field: string,
): MessageShape<Desc> {
  if (rules.atPath !== undefined) return rules.atPath(path, patch, field);
  const last = path.at(-1);
  // Callers cannot choose ids.
  if (last?.by !== "name") throw notFound(definition.label.one, formatReferences(place.pattern, path));
  const named = clone(definition.schema, patch) as MessageShape<Desc> & { name: string };
  if (named.name !== "" && named.name !== last.value) {
    throw invalidField(`${field}.name`, `must be ${JSON.stringify(last.value)}, as in the path, or empty`, "name");
  }
  named.name = last.value;
  return named;
}
