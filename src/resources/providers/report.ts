import type { JsonObject } from "@bufbuild/protobuf";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { readGiven } from "../operations/read-variables.ts";
import { readType } from "../resource-types/find-type.ts";
import { changeResource, givenWith } from "../resources/change-resource.ts";
import { requireIdle } from "../resources/require-idle.ts";
import type { InfrastructureRow } from "../resources/store.ts";

/** What has happened to a resource by itself. Undefined is what has not changed. */
export interface Report {
  readonly state: "ACTIVE" | "FAILED" | undefined;
  readonly stateReason: string;
  readonly givenQuantities: Readonly<Record<string, number>>;
  readonly outputs: JsonObject | undefined;
}

/** @throws ServiceError STATE_FORBIDS while an operation is changing the resource, FIELD_INVALID or QUOTA_EXCEEDED. */
export async function applyReport(
  transaction: OrgTransaction,
  resource: InfrastructureRow,
  { state, stateReason, givenQuantities, outputs }: Report,
): Promise<InfrastructureRow> {
  requireIdle(resource);
  const { operations } = await readType(transaction.db, resource.type_id);
  // Any operation of the type may have defined a Quantity of the resource.
  const variables = {
    verb: "",
    givenQuantities: operations.flatMap((each) => [...(each.quantities ?? []), ...(each.givenQuantities ?? [])]),
  };
  const given = { quantities: givenQuantities, qualities: {} };
  readGiven(variables, resource, given);
  const isActive = (state ?? resource.state) === "ACTIVE";
  return changeResource(transaction, resource, {
    ...(state !== undefined && { state, state_reason: state === "FAILED" ? stateReason : "" }),
    ...(isActive
      ? givenWith(resource, given)
      : { given_quantities: { ...resource.given_quantities, ...givenQuantities } }),
    ...(outputs !== undefined && { outputs }),
  });
}
