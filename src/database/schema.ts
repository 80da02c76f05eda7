import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";

// What the tables hold, as Kysely and pg read them. `schema.sql` beside this file is the same as the database sees it.

/** Columns that all resources with a name of their own share. */
interface NamedColumns {
  id: string;
  name: string;
  display_name: string;
  description: string;
  labels: JSONColumnType<Record<string, string>>;
  /** The revision of the org's change log that last changed this row; the resource's etag. */
  changed_revision: string;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** Columns of resources that stay readable for a while after they were deleted. */
interface DeletableColumns {
  delete_time: Date | null;
  purge_time: Date | null;
}

/** @public Named in the declarations that the package holds. */
export interface Customers extends NamedColumns, DeletableColumns {}

export interface Orgs extends NamedColumns, DeletableColumns {
  customer_id: string;
  state: "ACTIVE" | "SUSPENDED";
  /** The head of the org's change log. Bumped under the row's lock, so that revisions are in commit order. */
  revision: string;
  /** Whether it was deleted because its customer was, and comes back with it. */
  deleted_with_customer: Generated<boolean>;
}

/** @public Named in the declarations that the package holds. */
export interface Projects extends NamedColumns, DeletableColumns {
  org_id: string;
  state: "ACTIVE" | "SUSPENDED";
}

export interface Members extends NamedColumns, DeletableColumns {
  org_id: string;
  type: "USER" | "APPLICATION";
  state: "INVITED" | "ACTIVE" | "SUSPENDED";
  /** Null unless the state is INVITED. */
  invitation_expire_time: Date | null;
}

/**
 * How many resources there are below each parent, deleted ones aside; those who write the rows keep it.
 *
 * @public Named in the declarations that the package holds.
 */
export interface ResourceCounts {
  org_id: string;
  parent_id: string;
  /** As in the protos: `GroupMember`. */
  resource_type: string;
  count: string;
}

/**
 * The labels of resources, deleted ones too, in the order of lists; those who write the rows keep it.
 *
 * @public Named in the declarations that the package holds.
 */
export interface ResourceLabels {
  /** Nil for what is in no org. */
  org_id: string;
  /** What it is directly in; nil for nothing. */
  parent_id: string;
  /** As in the protos: `ApiKey`. */
  resource_type: string;
  key: string;
  value: string;
  resource_id: string;
}

/**
 * What writes with a request id have answered, so that a repeat gets the same.
 *
 * @public Named in the declarations that the package holds.
 */
export interface WriteRequests {
  /** The caller, and the org that it is a member of. */
  org_id: string;
  actor_id: string;
  request_id: string;
  fingerprint: Buffer;
  /** The answer in binary. */
  answer: Buffer;
  create_time: Generated<Date>;
}

/** @public Named in the declarations that the package holds. */
export interface ApiKeys extends NamedColumns {
  org_id: string;
  member_id: string;
  /** The public part of the key, by which it is found. */
  prefix: string;
  /** SHA-256 of the whole key. */
  hash: Buffer;
  expire_time: Date | null;
  last_use_time: Date | null;
}

/** @public Named in the declarations that the package holds. */
export interface Groups extends NamedColumns {
  org_id: string;
}

/** @public Named in the declarations that the package holds. */
export interface GroupMembers {
  org_id: string;
  group_id: string;
  member_id: string;
  expire_time: Date | null;
  changed_revision: string;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** @public Named in the declarations that the package holds. */
export interface Subgroups {
  org_id: string;
  group_id: string;
  subgroup_id: string;
  description: string;
  changed_revision: string;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** @public Named in the declarations that the package holds. */
export interface Roles extends NamedColumns {
  org_id: string;
  permissions: string[];
}

export interface RoleBindings extends NamedColumns {
  /** The org of its subject, whose lock and change log it is under. */
  org_id: string;
  scope_type: "PLATFORM" | "CUSTOMER" | "ORG" | "PROJECT";
  customer_id: string | null;
  project_id: string | null;
  /** The org, project or customer that it is granted on; null for the platform. */
  scope_id: GeneratedAlways<string | null>;
  /** The subject is a member or a group. */
  member_id: string | null;
  group_id: string | null;
  /** The role is a predefined one, by its name, or one of the org. */
  predefined_role: string | null;
  role_id: string | null;
  start_time: Date | null;
  expire_time: Date | null;
  /** CEL; empty for none. */
  condition: string;
}

/** @public Named in the declarations that the package holds. */
export interface Changes {
  org_id: string;
  revision: string;
  /** Tells apart what one transaction changed. */
  position: number;
  /** The member who made the change; null for the service itself. */
  actor_id: string | null;
  /** The method that made it, `iam.v1alpha.MembersService/CreateMember`. */
  method: string;
  resource_type: string;
  resource_id: string;
  /** The path at that time. */
  resource_path: string;
  /** The generation of the write path: 1 left counts, labels and what goes with what to the database, 2 keeps them. */
  writer: number;
  /** The row before; null when it was created. */
  before: JSONColumnType<object> | null;
  /** The row after; null when it is gone. */
  after: JSONColumnType<object> | null;
  create_time: Generated<Date>;
}

/**
 * One row: what belongs to this installation as a whole.
 *
 * @public Named in the declarations that the package holds.
 */
export interface Installation {
  singleton: Generated<boolean>;
  system_org_id: string;
  operator_id: string;
  /** Authenticates page tokens on every server of the installation. */
  page_token_key: Buffer;
}

export interface Schema {
  customers: Customers;
  orgs: Orgs;
  projects: Projects;
  members: Members;
  api_keys: ApiKeys;
  groups: Groups;
  group_members: GroupMembers;
  subgroups: Subgroups;
  roles: Roles;
  role_bindings: RoleBindings;
  changes: Changes;
  resource_counts: ResourceCounts;
  resource_labels: ResourceLabels;
  write_requests: WriteRequests;
  installation: Installation;
}
