import type { Database } from "../../database/database.ts";
import { customerLevel, orgLevel, projectLevel, serviceLevel } from "../../database/match-reference.ts";
import { formatPath, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { createPathLookup } from "../../database/path-lookup.ts";
import { type ConditionNames, noPath } from "../conditions/condition-path.ts";
import type { OrgHeads } from "../snapshots/org-heads.ts";
import { currentPath, projectIn, writtenName } from "./resolve-in-snapshot.ts";
import { type ResolvedTarget, onPlatform, toIdReference } from "./resolved-target.ts";
import type { TargetPath } from "./target-path.ts";

/** Resolves a customer, a service with what is in it, or a resource in an org other than the snapshot's; undefined if it does not exist. */
export type ResolveElsewhere = (path: TargetPath) => Promise<ResolvedTarget | undefined>;

export function createResolveElsewhere(database: Database, heads: OrgHeads, names: ConditionNames): ResolveElsewhere {
  const customers = createPathLookup<{ id: string; name: string; delete_time: Date | null }>(database, {
    name: "customer_states",
    levels: [customerLevel],
    rows: database.reads.selectFrom("customers").select(["customers.id", "customers.name", "customers.delete_time"]),
  });

  const projects = createPathLookup<{ id: string; name: string; delete_time: Date | null; state: string }>(database, {
    name: "project_states",
    levels: [orgLevel, projectLevel],
    rows: database.reads
      .selectFrom("orgs")
      .innerJoin("projects", "projects.org_id", "orgs.id")
      .select(["projects.id", "projects.name", "projects.delete_time", "projects.state"]),
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
    if (orgReference === undefined) return undefined;
    const asked = projectIn(path);
    const [org, project] = await Promise.all([
      heads([orgReference]),
      asked === undefined || asked.by === "any" ? undefined : projects([orgReference, asked]),
    ]);
    if (org === undefined) return undefined;
    const ofProject = project?.state === "SUSPENDED" ? "project" : undefined;
    return {
      pattern,
      references: [toIdReference(orgReference, org.id), ...below],
      resource: { kind: "org", customerId: org.customer_id, orgId: org.id },
      suspended: org.state === "SUSPENDED" ? "org" : ofProject,
      isItself: references.length === (asked === undefined ? 1 : 2) && rest === "",
      path() {
        if (org.delete_time !== null || (project?.delete_time ?? null) !== null) throw noPath();
        const projectName = project?.name ?? writtenName(asked);
        return currentPath(names, undefined, formatPath(patterns.Org, org.name), projectName, path);
      },
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
