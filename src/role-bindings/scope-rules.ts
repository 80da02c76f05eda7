// What the kinds of scope differ in when a binding is written.
import type { Transaction } from "kysely";
import type { RoleBinding } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { customerPath } from "../customers/message.ts";
import { customerDefinition } from "../customers/definition.ts";
import type { Schema } from "../database/schema.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { findActiveProject, requireActiveProject } from "../projects/active-project.ts";
import { required } from "../resource/required.ts";
import { findInPlace, findRow } from "../resource/row-reader.ts";
import type { WriteScope } from "../resource/rules.ts";
import { roleBindingDefinition } from "./definition.ts";
import { type Scope, scopes } from "./scopes.ts";
import type { RoleBindingRow } from "./store.ts";
import { findOrgOfCustomer, requireSystemOrg } from "./subject.ts";

/** The columns of a binding that say where it is granted. */
interface PlaceColumns {
  readonly customer_id: string | null;
  readonly project_id: string | null;
}

export interface ScopeRules {
  readonly scope: Scope;
  /**
   * Finds where a new binding goes.
   *
   * @throws ServiceError RESOURCE_NOT_FOUND, or STATE_FORBIDS when nothing can be changed there.
   */
  readonly findPlace: (transaction: OrgTransaction, parent: readonly Reference[]) => Promise<PlaceColumns>;
  /** @throws ServiceError STATE_FORBIDS when nothing can be changed where a binding is. */
  readonly requireWritable: (row: RoleBindingRow) => void;
  /** Whose lock a write takes: the org that the path begins with, or else that of the subject. */
  readonly writeScope: WriteScope<RoleBinding>;
}

const nowhereElse: PlaceColumns = { customer_id: null, project_id: null };
const always = (): void => {};

export const orgRules: ScopeRules = {
  scope: scopes.org,
  findPlace: () => Promise.resolve(nowhereElse),
  requireWritable: always,
  writeScope: { kind: "parent" },
};

export const projectRules: ScopeRules = {
  scope: scopes.project,
  writeScope: { kind: "parent" },

  async findPlace(transaction, parent) {
    const project = await findActiveProject(transaction, parent);
    return { customer_id: null, project_id: project.id };
  },

  requireWritable(row) {
    const { project_id: id, project_name: name, project_state: state, project_delete_time: deleteTime } = row;
    requireActiveProject({
      ...row,
      id: required(id),
      name: required(name),
      state: required(state),
      delete_time: deleteTime,
    });
  },
};

export const customerRules: ScopeRules = {
  scope: scopes.customer,

  async findPlace({ db }, parent) {
    const customer = await findRow(db, customerDefinition, parent);
    if (customer === undefined) throw notFound("customer", formatReferences(patterns.Customer, parent));
    if (customer.delete_time !== null) throw deleted("customer", customerPath(customer));
    return { customer_id: customer.id, project_id: null };
  },

  requireWritable({ customer_id: id, customer_name: name, customer_delete_time: deleteTime }) {
    if (deleteTime === null) return;
    throw deleted("customer", customerPath({ id: id ?? "", name: name ?? "", delete_time: deleteTime }));
  },

  writeScope: ofSubject(scopes.customer, (db, [customer], subjectPath) =>
    findOrgOfCustomer(db, required(customer), subjectPath),
  ),
};

/** @param systemOrgId the installation's own org, whose members and groups alone hold something on the platform. */
export function createPlatformRules(systemOrgId: string): ScopeRules {
  return {
    scope: scopes.platform,
    findPlace: () => Promise.resolve(nowhereElse),
    requireWritable: always,
    writeScope: ofSubject(scopes.platform, (db, _path, subjectPath) => requireSystemOrg(db, systemOrgId, subjectPath)),
  };
}

/** The org of a binding that is there, or else that of the subject of a new one. */
function ofSubject(
  { place }: Scope,
  findOrgOfSubject: (db: Transaction<Schema>, path: readonly Reference[], subjectPath: string) => Promise<Reference>,
): WriteScope<RoleBinding> {
  return {
    kind: "each",
    async find(db, path, message) {
      const isParent = path.length < place.pattern.length;
      const row = isParent ? undefined : await findInPlace(db, roleBindingDefinition, place, path);
      if (row !== undefined) return { by: "id", value: row.org_id };
      if (message === undefined) throw notFound("role binding", formatReferences(place.pattern, path));
      return findOrgOfSubject(db, path, message.subjectPath);
    },
  };
}
