import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import type { Schema } from "../../database/schema.ts";
import { customerLevel, serviceLevel } from "../../database/match-reference.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { createPathLookup } from "../../database/path-lookup.ts";
import { type ConditionNames, noPath } from "../conditions/condition-path.ts";
import { type OtherOrg, createFindOtherOrg } from "./find-other-org.ts";
import { currentPath, isMissing, projectIn, writtenName } from "./resolve-in-snapshot.ts";
import {
  type DecisionTarget,
  type ResolvedTarget,
  type Suspension,
  onPlatform,
  toIdReference,
} from "./resolved-target.ts";
import { guardedBy } from "./support-access.ts";
import { isGuardedCustomer } from "../../database/support-required.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { TargetPath } from "./target-path.ts";

/** Resolves a customer, a service with what is in it, or a resource in an org other than the snapshot's; undefined if it does not exist. */
export type ResolveElsewhere = (path: TargetPath) => Promise<ResolvedTarget | undefined>;

/** @param isForPlatform whether it is for members of the platform, whom a customer may require to be approved. Others read nothing about that. */
export function createResolveElsewhere(
  database: Database,
  names: ConditionNames,
  isForPlatform: boolean,
): ResolveElsewhere {
  const findOtherOrg = createFindOtherOrg(database, isForPlatform);

  const { customers, services } = createLookups(database, isForPlatform);
  const resolveCustomer = createResolveCustomer(customers);

  const resolveService: ResolveElsewhere = async (path) => {
    const [reference, ...below] = path.references;
    const service = reference && (await services([reference]));
    if (reference === undefined || service === undefined) return undefined;
    return {
      ...onPlatform,
      pattern: path.pattern,
      references: [toIdReference(reference, service.id), ...below],
      resource: { kind: "service", serviceId: service.id },
      path: () => currentPath(names, undefined, formatPath(patterns.Service, service.name), undefined, path),
    };
  };

  /** Nothing in another org can be granted to the snapshot's subjects, so only grants above the org count. */
  const resolveInOtherOrg: ResolveElsewhere = async (path) => {
    const { pattern, references, rest = "" } = path;
    const [orgReference, ...below] = references;
    const asked = projectIn(path);
    const isWhole = asked === undefined;
    if (orgReference === undefined || orgReference.by === "any") return undefined;
    const org = await findOtherOrg(orgReference, asked?.by === "any" ? undefined : asked);
    if (org === undefined) return undefined;
    if (!isWhole && org.project_id !== null) below[0] = toIdReference(asked, org.project_id);
    const isItself = references.length === (isWhole ? 1 : 2) && rest === "";
    return {
      pattern,
      references: [toIdReference(orgReference, org.id), ...below],
      ...guardedOrg(org, isWhole),
      suspensions: suspensionsOf(org, { org: isItself && isWhole, project: isItself }),
      isItself,
      isInMissingProject: isMissing(asked, org.project_id ?? undefined),
      path() {
        if (org.delete_time !== null || org.project_delete_time !== null) throw noPath();
        const name = org.project_name ?? writtenName(asked);
        return currentPath(names, undefined, formatPath(patterns.Org, org.name), name, path);
      },
      labels: () => org.project_labels ?? org.labels,
    };
  };

  return (path) => {
    switch (path.pattern[0]) {
      case patterns.Customer[0]:
        return resolveCustomer(path);
      case patterns.Service[0]:
        return resolveService(path);
      default:
        return resolveInOtherOrg(path);
    }
  };
}

function createResolveCustomer(customers: ReturnType<typeof createLookups>["customers"]): ResolveElsewhere {
  return async ({ pattern, references: [reference, ...below] }) => {
    const customer = reference && (await customers([reference]));
    if (reference === undefined || customer === undefined) return undefined;
    return {
      ...onPlatform,
      pattern,
      references: [toIdReference(reference, customer.id), ...below],
      ...guardedCustomer(customer),
      path: () => formatPath(patterns.Customer, pathName(customer)),
    };
  };
}

function createLookups(database: Database, isForPlatform: boolean) {
  const customers = createPathLookup<FoundCustomer>(database, {
    name: isForPlatform ? "support_in_customers" : "customer_states",
    levels: [customerLevel],
    rows: selectCustomers(database.reads, isForPlatform),
  });
  const services = createPathLookup<{ id: string; name: string }>(database, {
    name: isForPlatform ? "service_names_for_platform" : "service_names",
    levels: [serviceLevel],
    rows: database.reads.selectFrom("services").select(["services.id", "services.name"]),
  });
  return { customers, services };
}

type Guarded = Pick<DecisionTarget, "resource" | "support">;

/** @param isWhole whether the target is in no project. */
function guardedOrg(org: OtherOrg, isWhole: boolean): Guarded {
  const { id: orgId, customer_id: customerId, support_grants: grants = null } = org;
  const resource: TargetScope = { kind: "org", customerId, orgId };
  return guardedBy(resource, grants === null ? undefined : { orgId, isWhole, grants });
}

interface FoundCustomer {
  readonly id: string;
  readonly name: string;
  readonly delete_time: Date | null;
  /** Whether one of its orgs requires that members of the platform are approved. */
  readonly is_guarded?: boolean;
}

const selectCustomers = (db: Kysely<Schema>, isForPlatform: boolean) =>
  db
    .selectFrom("customers")
    .select(["customers.id", "customers.name", "customers.delete_time"])
    .$if(isForPlatform, (query) => query.select(isGuardedCustomer(sql.ref("customers.id")).as("is_guarded")));

/** What is granted on a customer, and its log, are of all its orgs, and no org approves for the others. */
function guardedCustomer({ id, is_guarded: isGuarded = false }: FoundCustomer): Guarded {
  const resource: TargetScope = { kind: "customer", customerId: id };
  return guardedBy(resource, isGuarded ? { orgId: null, isWhole: true, grants: [] } : undefined);
}

/** @param isItself whether the target is the org, or the project. */
function suspensionsOf(org: OtherOrg, isItself: Readonly<Record<Suspension["kind"], boolean>>): readonly Suspension[] {
  const suspensions: Suspension[] = [];
  const requireNames = (...deleteTimes: readonly (Date | null)[]): void => {
    if (deleteTimes.some((time) => time !== null)) throw noPath();
  };
  if (org.state === "SUSPENDED") {
    suspensions.push({
      kind: "org",
      isItself: isItself.org,
      ...guardedOrg(org, true),
      path() {
        requireNames(org.delete_time);
        return formatPath(patterns.Org, org.name);
      },
      labels: () => org.labels,
    });
  }
  const { project_name: projectName, project_labels: labels } = org;
  if (org.project_state === "SUSPENDED" && projectName !== null && labels !== null) {
    suspensions.push({
      kind: "project",
      isItself: isItself.project,
      ...guardedOrg(org, false),
      path() {
        requireNames(org.delete_time, org.project_delete_time);
        return formatPath(patterns.Project, org.name, projectName);
      },
      labels: () => labels,
    });
  }
  return suspensions;
}
