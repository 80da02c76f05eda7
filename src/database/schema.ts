import type {
  Directory,
  ManagedResources,
  ResourceCounts,
  ResourceLabels,
  ResourceReferences,
} from "./derived-tables.ts";
import type { AccessRequestTables } from "./access-request-table.ts";
import type { AccessUseTables } from "./access-use-tables.ts";
import type { ContactTables } from "./contact-tables.ts";
import type { AccessEvents, Changes } from "./log-tables.ts";
import type { Amounts, DeletableColumns, NamedColumns, VersionColumns } from "./shared-columns.ts";
import type { InstallationTables } from "./installation-tables.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import type { IdentityTables } from "./identity-tables.ts";
import type { TokenTables } from "./token-tables.ts";
import type { SignalTables } from "./signal-tables.ts";
import type { PastTables } from "./past-tables.ts";
import type { QuotaRequests } from "./quota-request-table.ts";
import type { ScimTables } from "./scim-tables.ts";
import type { UsageTables } from "./usage-tables.ts";
import type { WebhookTables } from "./webhook-tables.ts";
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from "kysely";

// The tables, as Kysely and pg read them, and as the declarations of the package name them. `schema.sql` is the schema in SQL.

/** What invoices name; null for nothing. */
interface InvoiceColumns {
  legal_name: Generated<string | null>;
  billing_reference: Generated<string | null>;
}

export interface Customers extends NamedColumns, DeletableColumns, InvoiceColumns {
  /** The head of the log of the customer, as of an org: the number 0 before there is an entry. */
  revision: Generated<string>;
  revision_time: ColumnType<Date, string | undefined, string>;
  chain_revision: string | null;
  chain_start: string | null;
  chain_hash: ColumnType<Buffer | null, string | null, string | null>;
}

export interface Orgs extends NamedColumns, DeletableColumns, InvoiceColumns {
  customer_id: string;
  state: "ACTIVE" | "SUSPENDED";
  /** The latest revision of the org's change log. Incremented under the row's lock, so that revisions are in commit order. */
  revision: string;
  /** The time of that revision. The times of an org's revisions ascend, also if the clock of the database is set back. */
  revision_time: ColumnType<Date, string, string>;
  /** The revision whose last entry is the end of the chain of the log. If it is not `revision`, an older server has written since. */
  chain_revision: string | null;
  /** The revision from which that chain holds. */
  chain_start: string | null;
  /** The hash of its last entry. */
  chain_hash: ColumnType<Buffer | null, string | null, string | null>;
  /** Whether the org was deleted together with its customer, and is undeleted with it. */
  deleted_with_customer: Generated<boolean>;
  /** How long API keys that are created in the org may live, in seconds; null for ever. */
  api_key_max_seconds: string | null;
  /** Whether API keys that are created in the org must have scopes. */
  api_key_scopes_required: boolean | null;
  /** How many members have to approve a request for access; null as when it was never set. */
  access_request_approvals: number | null;
  /** Since when the org requires that it approves what members of the platform do in the orgs of its customer; null if it does not. */
  support_access_required_time: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
  /** When the org last began or ended to require it. What it has approved before does not count. */
  support_access_change_time: ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
}

export interface Projects extends NamedColumns, DeletableColumns {
  customer_id: string;
  org_id: string;
  state: "ACTIVE" | "SUSPENDED";
}

export interface Members extends NamedColumns, DeletableColumns {
  customer_id: string;
  org_id: string;
  type: "USER" | "APPLICATION";
  state: "INVITED" | "ACTIVE" | "SUSPENDED";
  /** Null unless the state is INVITED. */
  invitation_expire_time: Date | null;
  /** As it was given; null for none. */
  email: Generated<string | null>;
  /** A random value that the member's tokens carry; replaced when all of them end. Null until the first time. */
  token_gen: Generated<string | null>;
}

/** The responses to writes with a request id, which are returned to repeated requests. */
export interface WriteRequests {
  customer_id: string;
  /** The caller, and the org that it is a member of. */
  org_id: string;
  actor_id: string;
  request_id: string;
  fingerprint: Buffer;
  /** The binary encoding of the response message. */
  answer: Buffer;
  create_time: Generated<Date>;
}

export interface ApiKeys extends NamedColumns {
  customer_id: string;
  org_id: string;
  member_id: string;
  /** The public part of the key, by which it is looked up. */
  prefix: string;
  /** SHA-256 of the whole key. */
  hash: Buffer;
  expire_time: Date | null;
  last_use_time: Date | null;
  /** The revision of the org up to which grants to the member count; null if all count. */
  grants_until: string | null;
  /** The permissions to which the key is narrowed; null for all. */
  scopes: string[] | null;
  /** The prefixes of the addresses from which it is accepted; null for all. */
  allowed_addresses: string[] | null;
  /** The API key that it replaces. */
  rotated_from_id: string | null;
}

export interface Groups extends NamedColumns {
  customer_id: string;
  org_id: string;
}

export interface GroupMembers extends VersionColumns {
  customer_id: string;
  org_id: string;
  group_id: string;
  member_id: string;
  expire_time: Date | null;
  /** Who has invited the member into the group, of any org; null for a membership that does not come from an invitation. */
  inviter_org_id: Generated<string | null>;
  inviter_id: Generated<string | null>;
}

export interface Subgroups extends VersionColumns {
  customer_id: string;
  org_id: string;
  group_id: string;
  subgroup_id: string;
  description: string;
}

export interface Roles extends NamedColumns {
  customer_id: string;
  org_id: string;
  permissions: string[];
}

export interface RoleBindings extends NamedColumns {
  /** The org of the subject, which provides the lock and the change log. */
  org_id: string;
  /** The customer of that org. `customer_id` is the one on which the role is granted. */
  org_customer_id: string;
  scope_type: "PLATFORM" | "CUSTOMER" | "SERVICE" | "ORG" | "PROJECT";
  customer_id: string | null;
  service_id: string | null;
  project_id: string | null;
  /** The org, project, customer or service on which the role is granted; null for the platform. */
  scope_id: GeneratedAlways<string | null>;
  /** Either a member or a group is set. */
  member_id: string | null;
  group_id: string | null;
  /** Either the name of a predefined role or the id of a role of the org is set. */
  predefined_role: string | null;
  role_id: string | null;
  start_time: Date | null;
  expire_time: Date | null;
  /** A CEL expression; empty for none. */
  condition: string;
}

export interface Services extends NamedColumns {
  org_id: string;
  /** The names of the QuantityKinds that its types may count against quotas. */
  counted_kinds: string[];
}

export interface QuantityKinds extends NamedColumns {
  org_id: string;
  unit: string;
  /** An exact decimal. */
  step: string;
}

export interface QualityKinds extends NamedColumns {
  org_id: string;
  highest_grade: number;
}

/** A QuantityVariable in Protobuf's JSON form. */
export interface StoredQuantity {
  readonly kind: string;
  readonly required?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly step?: number;
  readonly defaultAmount?: number;
  readonly counted?: boolean;
  readonly surplus?: number;
}

/** A QualityVariable in Protobuf's JSON form. */
export interface StoredQuality {
  readonly kind: string;
  readonly required?: boolean;
  readonly maximum?: number;
}

/** An OperationType in Protobuf's JSON form. */
export interface StoredOperationType {
  readonly verb: string;
  readonly description?: string;
  readonly quantities?: StoredQuantity[];
  readonly givenQuantities?: StoredQuantity[];
  readonly qualities?: StoredQuality[];
  readonly givenQualities?: StoredQuality[];
  readonly references?: StoredReference[];
  readonly concurrent?: boolean;
}

/** What a reference refers to: the ids of a resource and its project. */
export interface ReferencedId {
  readonly project_id: string;
  readonly id: string;
}

/** A ReferenceVariable, as it is stored. */
export interface StoredReference {
  readonly name: string;
  readonly typePath: string;
  readonly required?: boolean;
}

export interface ResourceTypes extends NamedColumns {
  org_id: string;
  service_id: string;
  collection: string;
  operations: JSONColumnType<StoredOperationType[]>;
  /** Null if resources of the type have no parameters. */
  parameters_schema: JSONColumnType<JsonObject> | null;
  /** The parameter whose value routes the operations of a resource; empty for none. */
  routing_parameter: Generated<string>;
}

/**
 * How much of a kind may be used in a customer, org or project, and how much is. Amounts are exact decimals. A row without a
 * limit has something used or reserved. Rows of a customer change under its lock, others under the lock of their org.
 */
export interface Quotas {
  customer_id: string;
  /** Null for a customer. */
  org_id: string | null;
  scope_id: string;
  kind: string;
  /** Null for no limit. */
  maximum: string | null;
  used: string;
  reserved: string;
}

/**
 * How much of a kind a resource uses, and how much more it reserves while an operation runs. The quotas of its project, org and
 * customer have the sums.
 */
export interface Allocations {
  customer_id: string;
  org_id: string;
  project_id: string;
  resource_id: string;
  kind: string;
  used: string;
  reserved: string;
}

/** What the provider of a resource says of it. */
type Outputs = JSONColumnType<JsonObject>;

export interface Resources extends NamedColumns, DeletableColumns {
  customer_id: string;
  org_id: string;
  project_id: string;
  type_id: string;
  /** Of a deleted resource, the state that it has when it is restored. */
  state: "CREATING" | "ACTIVE" | "UPDATING" | "SUSPENDED" | "FAILED" | "DELETING";
  state_reason: string;
  parameters: JSONColumnType<JsonObject>;
  quantities: Amounts;
  given_quantities: Amounts;
  qualities: Amounts;
  given_qualities: Amounts;
  outputs: Outputs;
  /** The resources that it uses, by the name of the reference. */
  reference_ids: JSONColumnType<Record<string, ReferencedId>>;
  /** The operation that is changing the resource; if there are several, the one that started first. */
  operation_id: string | null;
  /** The operations that are changing it, if these are concurrent, in the order of their start; empty otherwise. */
  concurrent_ids: Generated<string[]>;
}

export interface Operations extends VersionColumns {
  customer_id: string;
  org_id: string;
  project_id: string;
  id: string;
  /** The resource may no longer exist. */
  resource_id: string;
  service_id: string;
  type_id: string;
  /** The value of the routing parameter of the resource; empty if there is none. */
  routing_key: Generated<string>;
  verb: string;
  /** Whether it runs beside other concurrent operations of the resource. */
  is_concurrent: Generated<boolean>;
  /** The state that the resource gets back if the operation fails; null if the operation creates it. */
  prior_state: Resources["state"] | "DELETED" | null;
  state: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED";
  quantities: Amounts;
  given_quantities: Amounts;
  qualities: Amounts;
  given_qualities: Amounts;
  outputs: Outputs;
  /** The references that the operation changes; null for one that it removes. */
  reference_ids: JSONColumnType<Record<string, ReferencedId | null>>;
  progress_percent: number;
  progress_message: string;
  cancel_requested: boolean;
  error_reason: string;
  error_message: string;
  actor_org_id: string | null;
  actor_id: string | null;
  /** Null until the operation has ended. */
  end_time: ColumnType<Date | null, string | null, string | null>;
  /** Proves the latest claim. */
  claim_token: string | null;
  /** How often it was claimed. */
  attempts: Generated<number>;
  /** When it can be claimed: when the claim expires, if it is claimed. */
  next_attempt_time: ColumnType<Date, never, Date>;
}

/** The orgs and projects whose resources have to follow their state. */
export interface Sweeps {
  customer_id: string;
  org_id: string;
  /** The id of the project, or of the org itself. */
  scope_id: string;
  /** The id of the last resource that the current round has looked at. */
  after_id: string | null;
  is_pending: Generated<boolean>;
  rounds: Generated<number>;
  next_time: Generated<Date>;
}

export interface Schema
  extends
    TokenTables,
    IdentityTables,
    SignalTables,
    WebhookTables,
    UsageTables,
    PastTables,
    ScimTables,
    ContactTables,
    AccessUseTables,
    AccessRequestTables,
    InstallationTables {
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
  services: Services;
  quantity_kinds: QuantityKinds;
  quality_kinds: QualityKinds;
  resource_types: ResourceTypes;
  quotas: Quotas;
  allocations: Allocations;
  resources: Resources;
  operations: Operations;
  resource_references: ResourceReferences;
  quota_requests: QuotaRequests;
  sweeps: Sweeps;
  changes: Changes;
  access_events: AccessEvents;
  resource_counts: ResourceCounts;
  resource_labels: ResourceLabels;
  directory: Directory;
  managed_resources: ManagedResources;
  write_requests: WriteRequests;
}
