// What differs between the kinds of scope when a binding is written.
import type { RoleBinding } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { customerDefinition } from "../customers/definition.ts";
import { matchesReference, serviceLevel } from "../../database/match-reference.ts";
import type { WriteTransaction } from "../../database/write-transaction.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { projectDefinition } from "../projects/definition.ts";
import { findParents } from "../../standard-methods/batch/find-parents.ts";
import { required } from "../../errors/required.ts";
import { findInPlace, findRow } from "../../standard-methods/read/row-reader.ts";
import type { ResourceDependencies, WriteScope } from "../../standard-methods/rules.ts";
import type { ProjectRow } from "../projects/store.ts";
import { roleBindingDefinition } from "./definition.ts";
import { removeExpiredOfOtherOrg } from "./expired-bindings.ts";
import type { RoleBindingRow } from "./store.ts";
import { type Scope, scopes } from "./scopes.ts";
import { findOrgOfCustomer, requireSystemOrg } from "./subject.ts";

export interface BoundScope {
  readonly columns: Pick<RoleBindingRow, "customer_id" | "service_id" | "project_id">;
  /** What the path of the scope needs. */
  readonly joined: Pick<
    RoleBindingRow,
    "customer_name" | "customer_delete_time" | "service_name" | "project_name" | "project_delete_time"
  >;
  /** The project, if the binding is on one. */
  readonly parent?: ProjectRow;
}

export interface ScopeRules {
  readonly scope: Scope;
  /**
   * Finds the scopes of new bindings. Returns a function for each that returns the scope, or throws.
   *
   * @throws ServiceError (the functions) RESOURCE_NOT_FOUND
   */
  readonly findPlaces: (
    transaction: OrgTransaction,
    parents: readonly (readonly Reference[])[],
  ) => Promise<(() => BoundScope)[]>;
  /** The org that a write locks: the one with which the path begins, or else the one of the subject. */
  readonly writeScope: WriteScope<RoleBinding>;
}

const nowhereElse: BoundScope = {
  columns: { customer_id: null, service_id: null, project_id: null },
  joined: {
    customer_name: null,
    customer_delete_time: null,
    service_name: null,
    project_name: null,
    project_delete_time: null,
  },
};

export const orgRules: ScopeRules = {
  scope: scopes.org,
  findPlaces: inOne(() => Promise.resolve(nowhereElse)),
  writeScope: { kind: "parent" },
};

export function createProjectRules({ readers }: Pick<ResourceDependencies, "readers">): ScopeRules {
  const { lookup } = readers.readerOf(projectDefinition, projectDefinition.places[0]);
  return {
    scope: scopes.project,
    writeScope: { kind: "parent" },

    async findPlaces(transaction, parents) {
      const projects = await findParents(transaction, lookup, parents);
      return projects.map((project, index) => () => {
        const parent = required(parents[index]);
        if (project === undefined) throw notFound("project", formatReferences(patterns.Project, parent));
        return {
          columns: { ...nowhereElse.columns, project_id: project.id },
          joined: { ...nowhereElse.joined, project_name: project.name, project_delete_time: project.delete_time },
          parent: project,
        };
      });
    },
  };
}

export const customerRules: ScopeRules = {
  scope: scopes.customer,

  findPlaces: inOne(async ({ db }, parent) => {
    const customer = await findRow(db, customerDefinition, parent);
    if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, parent));
    return {
      columns: { ...nowhereElse.columns, customer_id: customer.id },
      joined: { ...nowhereElse.joined, customer_name: customer.name, customer_delete_time: customer.delete_time },
    };
  }),

  writeScope: ofSubject(scopes.customer, async (db, [reference], { name, subjectPath }) => {
    const { customerId, orgId } = await findOrgOfCustomer(db, required(reference), subjectPath);
    await removeExpiredOfOtherOrg(db, customerId, { name, orgId });
    return { by: "id", value: orgId };
  }),
};

/** @param systemOrgId the installation's own org. Only its members and groups can hold roles on a service: its providers. */
export function createServiceRules(systemOrgId: string): ScopeRules {
  return {
    scope: scopes.service,

    findPlaces: inOne(async ({ db }, parent) => {
      const isNamed = matchesReference(serviceLevel, required(parent[0]));
      const service = await db.selectFrom("services").select(["id", "name"]).where(isNamed).executeTakeFirst();
      if (service === undefined) throw notFound("service", formatReferences(patterns.Service, parent));
      return {
        columns: { ...nowhereElse.columns, service_id: service.id },
        joined: { ...nowhereElse.joined, service_name: service.name },
      };
    }),

    writeScope: ofSubject(scopes.service, (db, _path, { subjectPath }) =>
      requireSystemOrg(db, systemOrgId, subjectPath),
    ),
  };
}

/** @param systemOrgId the installation's own org. Only its members and groups can hold roles on the platform. */
export function createPlatformRules(systemOrgId: string): ScopeRules {
  return {
    scope: scopes.platform,
    findPlaces: inOne(() => Promise.resolve(nowhereElse)),
    writeScope: ofSubject(scopes.platform, (db, _path, { subjectPath }) =>
      requireSystemOrg(db, systemOrgId, subjectPath),
    ),
  };
}

/** Finds the one parent that bindings have in a place whose batches have no others. */
function inOne(
  find: (transaction: OrgTransaction, parent: readonly Reference[]) => Promise<BoundScope>,
): ScopeRules["findPlaces"] {
  return async (transaction, parents) => {
    const place = await find(transaction, required(parents[0]));
    return parents.map(() => () => place);
  };
}

/** Returns the org of an existing binding, or else that of the subject of a new one. */
function ofSubject(
  { place }: Scope,
  findOrgOfSubject: (db: WriteTransaction, path: readonly Reference[], message: RoleBinding) => Promise<Reference>,
): WriteScope<RoleBinding> {
  return {
    kind: "each",
    async find(db, path, message) {
      const isParent = path.length < place.pattern.length;
      const row = isParent ? undefined : await findInPlace(db, roleBindingDefinition, place, path);
      if (row !== undefined) return { by: "id", value: row.org_id };
      if (message === undefined) throw notFound("role binding", formatReferences(place.pattern, path));
      return findOrgOfSubject(db, path, message);
    },
  };
}
