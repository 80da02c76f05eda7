import type { Group } from "../../../gen/iam/v1alpha/group_pb.ts";
import { formatPath, orgPathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { namedFields } from "../../standard-methods/named-fields.ts";
import type { GroupRow } from "./store.ts";

export function toGroup(row: GroupRow): Group {
  return {
    $typeName: "iam.v1alpha.Group",
    path: groupPath(row),
    ...namedFields(row),
  };
}

export function groupPath(row: GroupRow): string {
  return formatPath(patterns.Group, orgPathName(row), row.name);
}
