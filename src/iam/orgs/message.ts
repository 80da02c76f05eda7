import { create } from "@bufbuild/protobuf";
import { type Org, OrgSchema, Org_State } from "../../../gen/iam/v1alpha/org_pb.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import type { OrgRow } from "./store.ts";

const states = { ACTIVE: Org_State.ACTIVE, SUSPENDED: Org_State.SUSPENDED } as const;

export function toOrg(row: OrgRow): Org {
  return create(OrgSchema, {
    path: orgPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    state: row.delete_time === null ? states[row.state] : Org_State.DELETED,
    customerPath: formatPath(
      patterns.Customer,
      pathName({ id: row.customer_id, name: row.customer_name, delete_time: row.customer_delete_time }),
    ),
  });
}

export function orgPath(row: Pick<OrgRow, "id" | "name" | "delete_time">): string {
  return formatPath(patterns.Org, pathName(row));
}
