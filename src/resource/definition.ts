// What a resource is, said once. All that is the same for every resource follows from its definition: how it is found and
// listed, inserted and removed, counted and limited, what the change log keeps of it, who holds its permissions, and what the
// database must have for it. What its messages look like is said by its proto, and what only it does by its rules.
import type { DescMessage, DescService, MessageShape } from "@bufbuild/protobuf";
import type { Insertable, Kysely, RawBuilder, SqlBool } from "kysely";
import type { SnapshotTable } from "../access/conditions/condition-path.ts";
import type { PathLevel } from "../database/match-reference.ts";
import type { Schema } from "../database/schema.ts";
import { pathText } from "../filters/common-fields.ts";
import type { FilterFields } from "../filters/filter-fields.ts";
import { type PathPattern, type ResourceType, patterns } from "../paths/patterns.ts";
import type { RowsQuery } from "./path-lookup.ts";

/** The tables that hold resources. */
export type ResourceTable = Exclude<
  keyof Schema,
  "changes" | "installation" | "resource_counts" | "resource_labels" | "write_requests"
>;

/** A row as the standard methods see it. */
export interface ResourceRow {
  readonly changed_revision: string;
  readonly state?: string;
  readonly delete_time?: Date | null;
}

/** The columns that the write path fills in for every resource. */
type CommonColumn =
  | "org_id"
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

/** What a resource's rules say of a new row: its own columns, and those of the common ones that it does not name itself by. */
export type OwnColumns<Table extends ResourceTable> = Omit<Insertable<Schema[Table]>, CommonColumn> &
  Partial<Pick<Insertable<Schema[Table]>, CommonColumn & keyof Insertable<Schema[Table]>>>;

/** What a resource is in, and the column of its table that holds the id of that. */
export interface ParentLevel extends PathLevel {
  readonly type: ResourceType;
  readonly collection: string;
  readonly column: string;
}

/** Where a resource can stand. */
export interface ResourcePlace {
  readonly pattern: PathPattern;
  /** What it is in, from the top. */
  readonly parents: readonly ParentLevel[];
  /** The condition that a row stands here, for a table that holds those of several places. */
  readonly holds?: RawBuilder<SqlBool>;
}

/** The rows that go when the row goes that they refer to by this column. */
interface RowReference {
  readonly column: string;
  readonly to: ResourceType;
}

/** How the rows of a resource are stored. */
export interface ResourceStorage {
  readonly table: ResourceTable;
  /** The primary key. */
  readonly key: readonly string[];
  /** The column that holds the resource's id. */
  readonly id: string;
  /** Its columns, which reads answer and the change log keeps. A column that is named here or in `unread` is all there is. */
  readonly columns: readonly string[];
  /** Columns that no read of the resource answers and no log keeps: secrets, and what the service keeps for itself. */
  readonly unread: readonly string[];
  /** All rows of the resource that count, with the columns of others that its message and path need. */
  readonly select: (db: Kysely<Schema>) => RowsQuery<unknown>;
  /** The table, or its alias in `select`, that has the name and id by which paths call the resource. */
  readonly called: PathLevel;
  readonly references: readonly RowReference[];
  /** The column that holds the parent below which the resource is counted; undefined for one that is not counted. */
  readonly countedBy: string | undefined;
  /**
   * - `indexed`: lists find them by their labels at the cost of a page;
   * - `unindexed`: there are few in one parent, and lists look at each;
   * - `none`: the resource has no labels.
   */
  readonly labels: "indexed" | "unindexed" | "none";
  /** The constraints that keep siblings apart by their name; an error about them says that the name is taken. */
  readonly nameConstraints: readonly string[];
  /** The request's field with the time at which rows end by themselves, for a resource that does. */
  readonly expireField?: string;
}

/** The same with the types of a table and its rows. */
interface TypedStorage<Table extends ResourceTable, Row extends ResourceRow> extends ResourceStorage {
  readonly table: Table;
  readonly key: readonly (keyof Schema[Table] & string)[];
  readonly id: keyof Schema[Table] & string;
  readonly columns: readonly (keyof Schema[Table] & string)[];
  readonly unread: readonly (keyof Schema[Table] & string)[];
  readonly select: (db: Kysely<Schema>) => RowsQuery<Row>;
  readonly references: readonly (RowReference & { readonly column: keyof Schema[Table] & string })[];
  readonly countedBy: (keyof Schema[Table] & string) | undefined;
}

/** How many of a resource there may be in one parent, and the setting that says so. */
interface ResourceLimit {
  readonly variable: string;
  readonly default: number;
  readonly max: number;
  /** The sentence that `--help` shows. */
  readonly help: string;
}

/** What access makes of a resource. */
interface ResourceAccess {
  /**
   * Where conditions find the current name of one that is asked for by its id; `unnamed` when they do not, so that conditions
   * on such a question hold nothing.
   */
  readonly namedIn: SnapshotTable | "unnamed";
  /** The predefined roles that hold its permissions, by their verbs, beside those that hold some of every resource; `*` for all. */
  readonly heldBy: Readonly<Record<string, readonly string[]>>;
  /** The verbs that `admin` does not hold. */
  readonly notByAdmin: readonly string[];
  /** Verbs of permissions that no method asks for by itself. */
  readonly otherVerbs?: readonly string[];
}

/** What a resource is, as far as that does not depend on the types of its rows. */
export interface ResourceDefinition {
  /** As in the protos: `ApiKey`. */
  readonly type: ResourceType;
  readonly service: DescService;
  readonly schema: DescMessage;
  /** What people call one, and several, in a sentence: `API key`. */
  readonly label: { readonly one: string; readonly many: string };
  readonly places: readonly [ResourcePlace, ...ResourcePlace[]];
  /** Places in the protos that are served otherwise. */
  readonly otherPlaces?: readonly PathPattern[];
  readonly storage: ResourceStorage;
  /** What lists can be filtered and ordered by, beside what all resources have. */
  readonly fields: FilterFields;
  /** The states it can be in while it lives; undefined for a resource of which nothing is left when it is deleted. */
  readonly lifecycle: { readonly states: readonly string[] } | undefined;
  readonly limit: ResourceLimit | undefined;
  readonly access: ResourceAccess;
  /** The path of a row, as `select` answers it. */
  readonly pathOf: (row: never) => string;
}

/** What a resource is, with its table, its rows as reads answer them, and its message. */
export interface TypedDefinition<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage = DescMessage,
> extends ResourceDefinition {
  readonly schema: Desc;
  readonly storage: TypedStorage<Table, Row>;
  readonly toMessage: (row: Row) => MessageShape<Desc>;
  readonly pathOf: (row: Row) => string;
  /** What of an answer may be kept. */
  readonly withoutSecrets?: (message: MessageShape<Desc>) => MessageShape<Desc>;
}

/** Lets the types of a definition follow from its parts. */
export function defineResource<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  definition: TypedDefinition<Table, Row, Desc>,
): TypedDefinition<Table, Row, Desc> {
  return definition;
}

/**
 * The level of a path at which a resource stands.
 *
 * @param isKept whether rows stay in the table for a while after they were deleted.
 */
export function levelOf(table: string, isKept: boolean): PathLevel {
  return { alias: table, keepsDeleted: isKept };
}

/** The parents of what stands below a resource: those of the resource, and the resource itself. */
export function below(parent: ResourceDefinition, column: string): readonly ParentLevel[] {
  const { type, places, storage } = parent;
  const [place] = places;
  const collection = place.pattern.at(-1) ?? "";
  return [...place.parents, { type, collection, column, ...storage.called }];
}

/** Whether rows stay for a while after they were deleted. */
export function keepsDeleted({ lifecycle }: ResourceDefinition): boolean {
  return lifecycle !== undefined;
}

/** Whether rows are in an org; the others are customers and orgs. */
export function isInOrg({ storage }: ResourceDefinition): boolean {
  return storage.columns.includes("org_id");
}

/** Whether rows have a name of their own, and all that goes with it. */
export function isNamed({ storage }: ResourceDefinition): boolean {
  return storage.columns.includes("name");
}

/** The column that holds the id of what rows are directly in, wherever that is; undefined for what is in nothing. */
export function parentColumnOf({ places: [{ parents }] }: ResourceDefinition): string | undefined {
  return parents.at(-1)?.column;
}

/** The levels of the paths of a place, from the top. */
export function levelsOf({ storage }: ResourceDefinition, { parents }: ResourcePlace): readonly PathLevel[] {
  return [...parents, storage.called];
}

/** The field `path`, as lists filter by it. */
export function pathField({ storage }: ResourceDefinition, { pattern, parents }: ResourcePlace) {
  return pathText([...parents, { collection: pattern.at(-1) ?? "", ...storage.called }]);
}

/** What must be granted something for it to count for a resource: the nearest project, org or customer around it, or none. */
export type ScopeColumn =
  | { readonly kind: "platform" }
  | { readonly kind: "customer" | "org" | "project"; readonly column: string };

const scopeKinds: Readonly<Partial<Record<ResourceType, "customer" | "org" | "project">>> = {
  Customer: "customer",
  Org: "org",
  Project: "project",
};

/** Where the rows of a place are for those who decide about access: the scope, and the column that holds its id. */
export function scopeColumnOf({ type, storage }: ResourceDefinition, { parents }: ResourcePlace): ScopeColumn {
  const own = scopeKinds[type];
  if (own !== undefined) return { kind: own, column: storage.id };
  for (const parent of parents.toReversed()) {
    const kind = scopeKinds[parent.type];
    if (kind !== undefined) return { kind, column: parent.column };
  }
  return { kind: "platform" };
}

/** The first place of a resource below another one. */
export function placeBelow(type: ResourceType, parent: ResourceDefinition, column: string): ResourcePlace {
  return { pattern: patterns[type], parents: below(parent, column) };
}
