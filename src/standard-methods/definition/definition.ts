// Resource definitions. Everything that is generic follows from a resource's definition: how it is looked up, listed, inserted
// and removed, counted and limited, what the change log keeps, which roles hold its permissions, and what schema it needs. Its
// messages are defined by its proto; its specific write behaviour is in its rules.
import type { DescMessage, DescService, Message, MessageShape } from "@bufbuild/protobuf";
import type { Insertable, Kysely, RawBuilder, SqlBool } from "kysely";
import type { SnapshotTable } from "../../access/conditions/condition-path.ts";
import type { PathLevel } from "../../database/match-reference.ts";
import type { Schema } from "../../database/schema.ts";
import { pathText } from "../../filters/common-fields.ts";
import type { FilterFields } from "../../filters/filter-fields.ts";
import { type PathPattern, type ResourceType, patterns } from "../../paths/patterns.ts";
import type { RowsQuery } from "../../database/path-lookup.ts";

/** The tables that hold resources. */
export type ResourceTable = Exclude<
  keyof Schema,
  | "allocations"
  | "changes"
  | "installation"
  | "past_roles"
  | "past_states"
  | "quotas"
  | "resource_counts"
  | "resource_labels"
  | "resource_references"
  | "sweeps"
  | "usage_summaries"
  | "usage_sums"
  | "webhook_deliveries"
  | "webhook_logs"
  | "write_requests"
>;

/** The columns of a row that the standard methods use. */
export interface ResourceRow {
  readonly changed_revision: string;
  readonly state?: string;
  readonly delete_time?: Date | null;
  readonly expire_time?: Date | null;
}

/** The columns that the write path fills in for every resource. */
type CommonColumn =
  | "org_id"
  | "customer_id"
  | "org_customer_id"
  | "id"
  | "name"
  | "display_name"
  | "description"
  | "labels"
  | "changed_revision"
  | "create_time"
  | "update_time"
  | "delete_time"
  | "purge_time";

/**
 * The columns of a new row that a resource's rules return: its own columns, and any common columns that are not filled from its
 * message.
 */
export type OwnColumns<Table extends ResourceTable> = Omit<Insertable<Schema[Table]>, CommonColumn> &
  Partial<Pick<Insertable<Schema[Table]>, CommonColumn & keyof Insertable<Schema[Table]>>>;

/** A parent of a resource, with the column of the resource's table that holds the parent's id. */
export interface ParentLevel extends PathLevel {
  readonly type: ResourceType;
  readonly collection: string;
  readonly column: string;
}

/** An org whose rows a read returns: the one in the path, or the org `system`, which stores what is in no org. */
type ReadOrg = "org of the path" | "system";

/** What shows that the response to an earlier read is still right, so that it is reused (docs/decisions/0052-revalidated-responses.md). */
export type Revalidation =
  /**
   * What reads return of a row that is not deleted, and which rows they return, changes only with the revision of one of these orgs
   * or, for a resource with an `expireField`, by the end of a row.
   */
  | { readonly revalidatedBy: readonly ReadOrg[] }
  /** Nothing does, for this reason: each read asks the database. */
  | { readonly neverRevalidated: string };

/** A place in the resource hierarchy where a resource can be. */
export interface ResourcePlace {
  readonly pattern: PathPattern;
  /** The parents, from the top. */
  readonly parents: readonly ParentLevel[];
  /** The condition that a row is in this place, for a table that holds the rows of several places. */
  readonly holds?: RawBuilder<SqlBool>;
  /** If it differs from that of the resource in its other places. */
  readonly responses?: Revalidation;
}

/** A foreign key. */
interface RowReference {
  readonly column: string;
  readonly to: ResourceType;
  /** The column with the customer of the org that it refers to, for a table with rows of no org: null for those. By default that of all rows. */
  readonly customer?: string;
  /**
   * What becomes of a row when the one that it refers to is to be removed permanently:
   *
   * - `cascade`: it is removed together with that one;
   * - `restrict`: it keeps that one from being removed. A Delete fails with RESOURCE_IN_USE, and a purge waits.
   */
  readonly onDelete: "cascade" | "restrict";
}

/**
 * References that no foreign key shows, such as names in JSON. They restrict the removal of what they refer to. To find one, all rows
 * of the resource are read, so this is for resources of which a cloud has few.
 */
interface HiddenReference {
  readonly to: ResourceType;
  /** Reports whether a row refers to another one. */
  readonly refers: (row: never, to: never) => boolean;
}

interface ReferredRow {
  readonly id: string;
  readonly name: string;
}

/** How the rows of a resource are stored. */
export interface ResourceStorage {
  readonly table: ResourceTable;
  /** The primary key. */
  readonly key: readonly string[];
  /** The column that holds the resource's id. */
  readonly id: string;
  /** The columns that reads return and the change log keeps. Every column of the table is in either `columns` or `unread`, but for that of `customerColumnOf`. */
  readonly columns: readonly string[];
  /** The columns that reads do not return and the change log does not keep: secrets and internal columns. */
  readonly unread: readonly string[];
  /**
   * Selects the visible rows (no expired memberships, for example), with the joined columns that messages and paths need.
   *
   * @param now at which they are visible. Default: the time of the statement.
   */
  readonly select: (db: Kysely<Schema>, now?: RawBuilder<Date>) => RowsQuery<unknown>;
  /**
   * Selects also the rows that are not visible as long as what they refer to is deleted. Its Undelete shows them again, without an entry in
   * the change log. Undefined if there are none.
   */
  readonly selectWithHidden?: (db: Kysely<Schema>) => RowsQuery<unknown>;
  /** The table, or its alias in `select`, with the name and id that paths refer to. */
  readonly called: PathLevel;
  readonly references: readonly RowReference[];
  readonly hiddenReferences?: readonly HiddenReference[];
  /** The column with the id of the parent in which the resource is counted; undefined for a resource that is not counted. */
  readonly countedBy: string | undefined;
  /**
   * - `indexed`: a label filter costs as much as the page that it returns;
   * - `unindexed`: a parent has few of the resource, and a label filter checks each;
   * - `none`: the resource has no labels.
   */
  readonly labels: "indexed" | "unindexed" | "none";
  /** The constraints that keep names unique among siblings. A violation is reported as a name that is already taken. */
  readonly nameConstraints: readonly string[];
  /**
   * Set if `select` joins nothing but the org, and there are large lists: pages without a filter, in the default order, are then planned
   * without their values. With more tables, the best order of the joins depends on how many rows the parents have.
   */
  readonly pagesArePlannedOnce?: true;
  /** The request field with the time at which a row expires, for a resource that can expire. The column is `expire_time`. */
  readonly expireField?: string;
  /** Set if an update can change what `select` joins besides the path: a row is then read again after it. */
  readonly joinsAnew?: true;
}

/** `ResourceStorage` with the types of a table and its rows. */
interface TypedStorage<Table extends ResourceTable, Row extends ResourceRow> extends ResourceStorage {
  readonly table: Table;
  readonly key: readonly (keyof Schema[Table] & string)[];
  readonly id: keyof Schema[Table] & string;
  readonly columns: readonly (keyof Schema[Table] & string)[];
  readonly unread: readonly (keyof Schema[Table] & string)[];
  readonly select: (db: Kysely<Schema>, now?: RawBuilder<Date>) => RowsQuery<Row>;
  readonly selectWithHidden?: (db: Kysely<Schema>) => RowsQuery<Row>;
  readonly references: readonly (RowReference & {
    readonly column: keyof Schema[Table] & string;
    readonly customer?: keyof Schema[Table] & string;
  })[];
  readonly hiddenReferences?: readonly (HiddenReference & {
    readonly refers: (row: Row, to: ReferredRow) => boolean;
  })[];
  readonly countedBy: (keyof Schema[Table] & string) | undefined;
}

/** The maximum number of resources in one parent, and the setting that configures it. */
interface ResourceLimit {
  readonly variable: string;
  readonly default: number;
  readonly max: number;
  /** The sentence that `--help` shows. */
  readonly help: string;
}

/** The lifecycle of a resource that stays readable after it is deleted. */
interface ResourceLifecycle {
  /** The states of a resource that is not deleted. */
  readonly states: readonly string[];
  /** Whether the contents of the resource are locked against writes while it is suspended or deleted. */
  readonly contents: "locked" | "open";
  /**
   * Whether the name of a deleted resource stays reserved until the resource is purged, or another resource can take it
   * immediately. Only names that are unique on the whole platform can be reserved.
   */
  readonly deletedNames: "reserved" | "reusable";
  /**
   * Set if an operation of its provider deletes, restores and purges the resource. Then the purge job leaves it, and its own rules
   * decide what each state allows.
   */
  readonly byProvider?: true;
}

/** What a message of a row from the change log needs besides the columns that the log keeps. */
interface LoggedRows {
  /** Returns what a read would join, made of the row alone: in place of each name, `@` and the id, as in a path. */
  readonly joinedById: (row: never) => object;
  /** The fields of the message that the log does not have. */
  readonly unknownFields?: readonly string[];
}

/** How access control treats a resource. */
interface ResourceAccess {
  /**
   * The snapshot table in which conditions find the current name of a resource that a request names by id. With `unnamed`, no
   * condition holds for such a request.
   */
  readonly namedIn: SnapshotTable | "unnamed";
  /**
   * The predefined roles that hold its permissions, by verb, in addition to the roles that hold permissions of every resource.
   * `*` stands for all.
   */
  readonly heldBy: Readonly<Record<string, readonly string[]>>;
  /** The verbs that the role `admin` does not hold. */
  readonly notByAdmin: readonly string[];
  /** Verbs of permissions that the protos of no method name: the rules of a resource require them. */
  readonly otherVerbs?: readonly string[];
}

/** A resource definition, without the types of its rows. */
export interface ResourceDefinition {
  /** The type in the protos: `ApiKey`. */
  readonly type: ResourceType;
  readonly service: DescService;
  readonly schema: DescMessage;
  /** The singular and plural in prose: `API key`. */
  readonly label: { readonly one: string; readonly many: string };
  readonly places: readonly [ResourcePlace, ...ResourcePlace[]];
  /** Places in the protos that the standard methods do not serve. */
  readonly otherPlaces?: readonly PathPattern[];
  readonly storage: ResourceStorage;
  /** The fields by which lists can be filtered and ordered, in addition to the fields of all resources. */
  readonly fields: FilterFields;
  /** Undefined for a resource that is deleted permanently. */
  readonly lifecycle: ResourceLifecycle | undefined;
  readonly limit: ResourceLimit | undefined;
  /** Whether responses to reads are reused. */
  readonly responses: Revalidation;
  readonly access: ResourceAccess;
  /** Returns the message of a row that `select` returned. */
  readonly toMessage: (row: never) => Message;
  /** Returns the path of a row that `select` returned. */
  readonly pathOf: (row: never) => string;
  readonly logged: LoggedRows;
}

/** A resource definition with the types of its table, rows and message. */
export interface TypedDefinition<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage = DescMessage,
> extends ResourceDefinition {
  readonly schema: Desc;
  readonly storage: TypedStorage<Table, Row>;
  readonly toMessage: (row: Row) => MessageShape<Desc>;
  readonly pathOf: (row: Row) => string;
  readonly logged: {
    readonly joinedById: (row: Pick<Row, keyof Row & keyof Schema[Table]>) => Omit<Row, keyof Schema[Table]>;
    readonly unknownFields?: readonly (keyof MessageShape<Desc> & string)[];
  };
  /** Removes the secrets from a response before it is stored. */
  readonly withoutSecrets?: (message: MessageShape<Desc>) => MessageShape<Desc>;
}

/** Returns the definition with its types inferred. */
export function defineResource<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  definition: TypedDefinition<Table, Row, Desc>,
): TypedDefinition<Table, Row, Desc> {
  const { storage } = definition;
  // In the order that entries of the change log are hashed in, so that none is sorted.
  return { ...definition, storage: { ...storage, columns: storage.columns.toSorted() } };
}

/**
 * Returns the path level of a resource.
 *
 * @param isKept whether rows stay in the table for a while after they are deleted.
 */
export function levelOf(table: string, isKept: boolean): PathLevel {
  return { alias: table, keepsDeleted: isKept };
}

/** Returns the parents of a resource below another one: the parents of that resource, and the resource itself. */
export function below(parent: ResourceDefinition, column: string): readonly ParentLevel[] {
  const { type, places, storage } = parent;
  const [place] = places;
  const collection = place.pattern.at(-1) ?? "";
  return [...place.parents, { type, collection, column, ...storage.called }];
}

/** Whether rows stay in the table for a while after they are deleted. */
export function keepsDeleted({ lifecycle }: ResourceDefinition): boolean {
  return lifecycle !== undefined;
}

/** Whether rows are in an org. Customers and orgs are not. */
export function isInOrg({ storage }: ResourceDefinition): boolean {
  return storage.columns.includes("org_id");
}

/** Whether a place is in an org, whose revision says what is there. */
export function isBelowOrg({ pattern }: ResourcePlace): boolean {
  return pattern.length > 1 && pattern[0] === patterns.Org[0];
}

/** Whether rows have a name, and with it the other named fields. */
export function isNamed({ storage }: ResourceDefinition): boolean {
  return storage.columns.includes("name");
}

/** Returns the columns by which rows refer to a resource, in the order of its key. `column` has the id. */
export function columnsReferringTo({ storage: { key, id } }: ResourceDefinition, column: string): readonly string[] {
  return key.map((each) => (each === id ? column : each));
}

/** Returns when a row ends by itself, in milliseconds; Infinity if it does not. */
export function endOf({ storage }: ResourceDefinition, row: Pick<ResourceRow, "expire_time">): number {
  return storage.expireField === undefined ? Infinity : (row.expire_time?.getTime() ?? Infinity);
}

/** Returns the column with the id of a row's direct parent; undefined for a resource without a parent. */
export function parentColumnOf({ places: [{ parents }] }: ResourceDefinition): string | undefined {
  return parents.at(-1)?.column;
}

/** Returns the levels of the paths of a place, from the top. */
export function levelsOf({ storage }: ResourceDefinition, { parents }: ResourcePlace): readonly PathLevel[] {
  return [...parents, storage.called];
}

/** Returns the field `path` for filters. */
export function pathField({ storage }: ResourceDefinition, { pattern, parents }: ResourcePlace) {
  return pathText([...parents, { collection: pattern.at(-1) ?? "", ...storage.called }]);
}

/** The scope in which access to a resource is decided: the nearest project, org, customer or service, or else the platform. */
export type ScopeColumn =
  | { readonly kind: "platform" }
  | { readonly kind: "customer" | "service" | "org" | "project"; readonly column: string };

const scopeKinds: Readonly<Partial<Record<ResourceType, "customer" | "service" | "org" | "project">>> = {
  Customer: "customer",
  Service: "service",
  Org: "org",
  Project: "project",
};

/** Returns the scope of the rows of a place, and the column that holds the scope's id. */
export function scopeColumnOf({ type, storage }: ResourceDefinition, { parents }: ResourcePlace): ScopeColumn {
  const own = scopeKinds[type];
  if (own !== undefined) return { kind: own, column: storage.id };
  for (const parent of parents.toReversed()) {
    const kind = scopeKinds[parent.type];
    if (kind !== undefined) return { kind, column: parent.column };
  }
  return { kind: "platform" };
}

/** Returns the first place of a resource, below another resource. */
export function placeBelow(type: ResourceType, parent: ResourceDefinition, column: string): ResourcePlace {
  return { pattern: patterns[type], parents: below(parent, column) };
}
