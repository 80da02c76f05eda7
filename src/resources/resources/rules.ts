// The rules of resources: what a new one needs, and what people may change of one.
import { type SqlBool, sql } from "kysely";
import type { ResourceSchema } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { visibleTypesOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { required } from "../../errors/required.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { StoredOperationType } from "../../database/schema.ts";
import { type Amounts, lockForLedger, reserveWithNext } from "../../quotas/ledger.ts";
import { mapItems } from "../../standard-methods/batch/batch-item.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { RowReaders } from "../../standard-methods/read/row-reader.ts";
import type { Draft, ResourceRules } from "../../standard-methods/rules.ts";
import { countedAmounts, placeOf } from "../counted-amounts.ts";
import { readKinds, readVariables } from "../operations/read-variables.ts";
import { type CheckedParameters, requireChecked } from "../parameters.ts";
import { lockType, lockTypeIn } from "../resource-types/find-type.ts";
import { resourceTypePath } from "../resource-types/message.ts";
import type { ResourceTypeRow } from "../resource-types/store.ts";
import { checkRoutingKey } from "../routing-key.ts";
import { createStartCheck } from "./start-check.ts";
import type { InfrastructureRow } from "./store.ts";

const typeField = "resource.type_path";
const variableFields = { quantities: "resource.quantities", qualities: "resource.qualities" };

/** A resource to be created, with what its operation `create` needs. */
export interface InfrastructureDraft extends Draft<"resources", InfrastructureRow> {
  /** As it was when the creation was checked. */
  readonly type: ResourceTypeRow;
  /** What it holds of the quotas. */
  readonly held: Amounts;
  /** The limits that do not allow it. */
  readonly excesses: ReturnType<typeof reserveWithNext>;
}

type InfrastructureRules = ResourceRules<
  "resources",
  InfrastructureRow,
  typeof ResourceSchema,
  InfrastructureDraft,
  CheckedParameters
>;

export function createInfrastructureRules(readers: RowReaders): InfrastructureRules {
  return {
    startCheck: createStartCheck(readers),
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, parents, resources, atItem, checked) {
        const { db, org, newId } = transaction;
        const { typePath: firstPath } = required(resources[0]);
        // A batch of resources has one parent.
        const parent = required(parents[0]);
        const place = required(parent[1]);
        const { project, ...first } = await atItem(0, () =>
          transaction.readOnce(`type ${JSON.stringify([place, firstPath])}`, () =>
            lockTypeIn(db, org.id, place, firstPath, typeField),
          ),
        );
        if (project === undefined) throw notFound("project", formatReferences(patterns.Project, parent));
        // By path. A rollback to a savepoint ends the locks, so no call relies on those of an earlier one.
        const types = new Map([[firstPath, first]]);
        await lockForLedger(transaction, { customerId: org.customer_id });
        return mapItems(resources, atItem, async (resource, index) => {
          const { typePath } = resource;
          const known = types.get(typePath) ?? (await readTypeOf(db, typePath));
          types.set(typePath, known);
          const { type, kinds } = known;
          const create = requireOperation(type, "create", typeField);
          requireChecked(type, required(checked[index])());
          checkRoutingKey(type, resource.parameters ?? {}, "resource.parameters");
          const wanted = readVariables(kinds, create, resource, variableFields);
          const columns = { id: newId(), project_id: project.id };
          const held = countedAmounts(type.operations, wanted.quantities);
          const excesses = reserveWithNext(transaction, placeOf(transaction, columns), columns.id, held);
          return {
            type,
            held,
            excesses,
            parent: { ...project, ...joinedOrgColumns(transaction) },
            columns: {
              ...columns,
              type_id: type.id,
              state: "CREATING" as const,
              state_reason: "",
              parameters: JSON.stringify(resource.parameters ?? {}),
              quantities: JSON.stringify(wanted.quantities),
              given_quantities: "{}",
              qualities: JSON.stringify(wanted.qualities),
              given_qualities: "{}",
              outputs: "{}",
              reference_ids: "{}",
              operation_id: newId(),
            },
            joined: {
              ...joinedOrgColumns(transaction),
              project_name: project.name,
              project_delete_time: project.delete_time,
              type_name: type.name,
              collection: type.collection,
              service_name: type.service_name,
              service_id: type.service_id,
            },
          };
        });
      },
    },
    revokes: "nothing",
    visible(context) {
      const types = visibleTypesOf(context);
      return types && sql<SqlBool>`resources.type_id = any(${types}::uuid[])`;
    },
  };
}

/** Locks a type, and reads the kinds of the variables of its operation `create`. */
async function readTypeOf(db: OrgTransaction["db"], path: string) {
  const type = await lockType(db, path, typeField);
  return { type, kinds: await readKinds(db, requireOperation(type, "create", typeField)) };
}

/**
 * Returns the definition of an operation of a type.
 *
 * @param field the request field that asks for it, for errors.
 * @throws ServiceError FIELD_INVALID that names the operations of the type.
 */
export function requireOperation(type: ResourceTypeRow, verb: string, field: string): StoredOperationType {
  const operation = type.operations.find((each) => each.verb === verb);
  if (operation !== undefined) return operation;
  const verbs = type.operations.map((each) => each.verb).join(", ");
  throw invalidField(field, `${resourceTypePath(type)} has no operation ${verb}; it has ${verbs}`, "operation");
}
