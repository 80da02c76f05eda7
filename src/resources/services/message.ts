import type { Service } from "../../../gen/resources/v1alpha/service_pb.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { ServiceRow } from "./store.ts";

export function toService(row: ServiceRow): Service {
  return {
    $typeName: "resources.v1alpha.Service",
    path: servicePath(row),
    ...namedFields(row),
    countedKinds: row.counted_kinds,
  };
}

export function servicePath({ name }: Pick<ServiceRow, "name">): string {
  return formatPath(patterns.Service, name);
}
