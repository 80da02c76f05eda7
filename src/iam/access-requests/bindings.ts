// The role binding of an access request: made and removed by the rules of role bindings, in the transaction of the request.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RoleBindingSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { formatPath } from "../../paths/format-path.ts";
import { isSamePattern, patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { findInPlace } from "../../standard-methods/read/row-reader.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { planRemoval } from "../../standard-methods/write/delete-one.ts";
import { writeOpened } from "../../standard-methods/write/write-rows.ts";
import { roleBindingDefinition } from "../role-bindings/definition.ts";
import { createRoleBindingRules } from "../role-bindings/role-binding-rules.ts";
import type { RoleBindingRow } from "../role-bindings/store.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { predefinedRolePath } from "../roles/message.ts";
import { accessRequestPath } from "./message.ts";
import type { AccessRequestRow } from "./store.ts";
import { scopeOf } from "./who-may.ts";

/** The columns of a request that its role binding has. */
export type WantedBinding = Pick<
  AccessRequestRow,
  | "org_id"
  | "org_name"
  | "org_delete_time"
  | "id"
  | "project_id"
  | "member_id"
  | "predefined_role"
  | "role_id"
  | "expire_time"
>;

export interface RequestBindings {
  /** Grants what a request asks for, and returns the id of the role binding. @throws ServiceError as CreateRoleBinding does. */
  grant(transaction: OrgTransaction, row: WantedBinding): Promise<string>;
  /** Removes the role binding of a request. @throws ServiceError as DeleteRoleBinding does. */
  revoke(transaction: OrgTransaction, row: AccessRequestRow): Promise<void>;
}

type Served = ServedResource<"role_bindings", RoleBindingRow, typeof RoleBindingSchema>;

export function createRequestBindings(dependencies: RoleDependencies): RequestBindings {
  const definition = roleBindingDefinition;
  const places = createRoleBindingRules(dependencies).map(({ place, rules }): Served => {
    const reader = dependencies.readers.readerOf(definition, place);
    return { definition, place, rules, reader, dependencies };
  });
  const servedIn = (row: Pick<WantedBinding, "org_id" | "project_id">): Served => {
    const { pattern } = scopeOf(row);
    return required(places.find(({ place }) => isSamePattern(place.pattern.slice(0, -1), pattern)));
  };

  return {
    async grant(transaction, row) {
      const served = servedIn(row);
      const { references } = scopeOf(row);
      const resources = { parents: [references], messages: [toBinding(row)], checked: [() => ""] };
      const rows = await writeOpened(served, transaction, () =>
        planCreation(served, transaction, resources, alone, (created: readonly RoleBindingRow[]) => created),
      );
      return required(rows[0]).id;
    },

    async revoke(transaction, row) {
      const served = servedIn(row);
      const path = [...scopeOf(row).references, { by: "id", value: required(row.binding_id ?? undefined) } as const];
      const binding = required(await findInPlace(transaction.db, definition, served.place, path));
      await writeOpened(served, transaction, () =>
        Promise.resolve(planRemoval(served, transaction, [binding], alone, () => undefined)),
      );
    },
  };
}

/** Its name is that of the request, so that a second one for the same request would be refused. */
function toBinding(row: WantedBinding) {
  const [org, member] = [`@${row.org_id}`, `@${row.member_id}`];
  const rolePath =
    row.predefined_role === null
      ? formatPath(patterns.Role, org, `@${row.role_id}`)
      : predefinedRolePath(row.predefined_role);
  return create(RoleBindingSchema, {
    name: `access-request-${row.id.replaceAll("-", "")}`,
    description: `Granted by the access request ${accessRequestPath(row)}`,
    rolePath,
    subjectPath: formatPath(patterns.Member, org, member),
    expireTime: timestampFromDate(row.expire_time),
  });
}
