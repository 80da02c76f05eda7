import { create } from "@bufbuild/protobuf";
import { type Org, OrgSchema, Org_State } from "../../gen/iam/v1alpha/org_pb.ts";
import type { Change } from "../changes/write-in-org.ts";
import { formatPath, pathName } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import { deletionFields, namedFields } from "../resource/named-fields.ts";
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

export function orgPath(row: OrgRow): string {
  return formatPath(patterns.Org, pathName(row));
}

/** An org's row as the change log keeps it. */
export function loggedOrg({ revision: _r, customer_name: _n, customer_delete_time: _t, ...row }: OrgRow): object {
  return row;
}

/** The line that the change log gets for an org. */
export function orgChange(before: OrgRow | null, after: OrgRow): Change {
  return {
    type: "Org",
    id: after.id,
    path: orgPath(before ?? after),
    before: before === null ? null : loggedOrg(before),
    after: loggedOrg(after),
  };
}
