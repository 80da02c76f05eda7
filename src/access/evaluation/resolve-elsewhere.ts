import type { Database } from "../../database/database.ts";
import { customerLevel, serviceLevel } from "../../database/match-reference.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { createPathLookup } from "../../database/path-lookup.ts";
import { type ConditionNames, noPath } from "../conditions/condition-path.ts";
import { type OtherOrg, createFindOtherOrg } from "./find-other-org.ts";
import { currentPath, projectIn, writtenName } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, type Suspension, onPlatform, toIdReference } from "./resolved-target.ts";
import type { TargetScope } from "../engine/decisions/target-scope.ts";
import type { TargetPath } from "./target-path.ts";

/** Resolves a customer, a service with what is in it, or a resource in an org other than the snapshot's; undefined if it does not exist. */
export type ResolveElsewhere = (path: TargetPath) => Promise<ResolvedTarget | undefined>;

export function createResolveElsewhere(database: Database, names: ConditionNames): ResolveElsewhere {
  const findOtherOrg = createFindOtherOrg(database);

  const customers = createPathLookup<{ id: string; name: string; delete_time: Date | null }>(database, {
    name: "customer_states",
    levels: [customerLevel],
    rows: database.reads.selectFrom("customers").select(["customers.id", "customers.name", "customers.delete_time"]),
  });

  const services = createPathLookup<{ id: string; name: string }>(database, {
    name: "service_names",
    levels: [serviceLevel],
    rows: database.reads.selectFrom("services").select(["services.id", "services.name"]),
  });

  const resolveCustomer: ResolveElsewhere = async ({ pattern, references: [reference, ...below] }) => {
    const customer = reference && (await customers([reference]));
    if (reference === undefined || customer === undefined) return undefined;
    return {
      ...onPlatform,
      pattern,
      references: [toIdReference(reference, customer.id), ...below],
      resource: { kind: "customer", customerId: customer.id },
      path: () => formatPath(patterns.Customer, pathName(customer)),
    };
  };

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
    if (orgReference === undefined || orgReference.by === "any") return undefined;
    const asked = projectIn(path);
    const org = await findOtherOrg(orgReference, asked?.by === "any" ? undefined : asked);
    if (org === undefined) return undefined;
    if (asked !== undefined && org.project_id !== null) below[0] = toIdReference(asked, org.project_id);
    const isItself = references.length === (asked === undefined ? 1 : 2) && rest === "";
    return {
      pattern,
      references: [toIdReference(orgReference, org.id), ...below],
      resource: scopeOf(org),
      suspensions: suspensionsOf(org, { org: isItself && asked === undefined, project: isItself }),
      isItself,
      path() {
        if (org.delete_time !== null || org.project_delete_time !== null) throw noPath();
        const projectName = org.project_name ?? writtenName(asked);
        return currentPath(names, undefined, formatPath(patterns.Org, org.name), projectName, path);
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

function scopeOf({ id, customer_id: customerId }: OtherOrg): TargetScope {
  return { kind: "org", customerId, orgId: id };
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
      resource: scopeOf(org),
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
      resource: scopeOf(org),
      path() {
        requireNames(org.delete_time, org.project_delete_time);
        return formatPath(patterns.Project, org.name, projectName);
      },
      labels: () => labels,
    });
  }
  return suspensions;
}
