import type { JsonObject } from "@bufbuild/protobuf";
import type { AuthorHolds } from "../../access/evaluation/author-holds.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { deleted } from "../../errors/service-error.ts";
import { countedKinds } from "../resource-types/counted.ts";
import { withReadableQuotas } from "../../quotas/quota-exceeded.ts";
import { readGiven } from "../operations/read-variables.ts";
import { requireWithinSurplus } from "../operations/surplus.ts";
import { readType } from "../resource-types/find-type.ts";
import { changeResource, givenWith } from "../resources/change-resource.ts";
import { resourcePath } from "../resources/message.ts";
import { requireIdle } from "../resources/require-idle.ts";
import type { InfrastructureRow } from "../resources/store.ts";
import { queueSweep } from "../queue-sweep.ts";

/** What has happened to a resource by itself. Undefined is what has not changed. */
export interface Report {
  readonly state: "ACTIVE" | "FAILED" | undefined;
  readonly stateReason: string;
  readonly givenQuantities: Readonly<Record<string, number>>;
  readonly outputs: JsonObject | undefined;
}

/** @throws ServiceError STATE_FORBIDS while an operation is changing the resource or when it is DELETED, FIELD_INVALID or QUOTA_EXCEEDED. */
export async function applyReport(
  transaction: OrgTransaction,
  authorHolds: AuthorHolds,
  resource: InfrastructureRow,
  { state, stateReason, givenQuantities, outputs }: Report,
): Promise<InfrastructureRow> {
  requireIdle(resource);
  if (resource.delete_time !== null) throw deleted("resource", resourcePath(resource));
  const { operations } = await readType(transaction.db, resource.type_id);
  // Any operation of the type may have defined a Quantity of the resource.
  const variables = {
    verb: "",
    givenQuantities: operations.flatMap((each) => [...(each.quantities ?? []), ...(each.givenQuantities ?? [])]),
  };
  const given = { quantities: givenQuantities, qualities: {} };
  readGiven(variables, resource, given);
  const limits = { wanted: resource.quantities, has: resource.given_quantities, counted: countedKinds(operations) };
  requireWithinSurplus(operations, givenQuantities, limits);
  if (resource.state === "FAILED" && state === "ACTIVE") {
    // What works again may have to be suspended with its project.
    await queueSweep(transaction, resource.project_id);
  }
  const works = state === undefined ? resource.state !== "FAILED" : state === "ACTIVE";
  const change = {
    ...(state !== undefined && stateColumns(resource.state, state, stateReason)),
    ...(works
      ? givenWith(resource, given)
      : { given_quantities: { ...resource.given_quantities, ...givenQuantities } }),
    ...(outputs !== undefined && { outputs }),
  };
  return withReadableQuotas(authorHolds, transaction, () => changeResource(transaction, resource, change));
}

/** A resource that is suspended and works stays suspended. */
function stateColumns(before: InfrastructureRow["state"], state: "ACTIVE" | "FAILED", reason: string) {
  if (state === "FAILED") return { state, state_reason: reason };
  return { state: before === "SUSPENDED" ? before : state, state_reason: "" };
}
