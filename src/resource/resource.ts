import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Kysely, Transaction } from "kysely";
import type { VisibleOrgs } from "../access/authorise.ts";
import type { Grants } from "../access/grants.ts";
import type { PreviewAccess } from "../access/preview.ts";
import type { Author } from "../changes/author.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import type { ServiceError } from "../errors/service-error.ts";
import type { Column, FilterFields } from "../filters/filter-fields.ts";
import type { FilterSql } from "../filters/to-sql.ts";
import type { OrderKey } from "../filters/parse-order-by.ts";
import type { Installation } from "../identity/installation.ts";
import { type PathPattern, type ResourceType, patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { AtItem } from "./batch-item.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Limits } from "./limits.ts";
import type { Cursor, PageTokens } from "./page-token.ts";
import type { Parents } from "./parents.ts";
import type { PathLookup } from "./path-lookup.ts";

/** A row as the standard methods see it. */
export interface ResourceRow {
  readonly changed_revision: string;
  readonly state?: string;
  readonly delete_time?: Date | null;
}

/** What to list. */
export interface Selection {
  readonly parent: readonly Reference[];
  readonly showDeleted: boolean;
  /** What may be shown of all orgs; undefined for everything. */
  readonly visible: VisibleOrgs | undefined;
  readonly condition: FilterSql;
  readonly order: readonly OrderKey[];
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** What makes a resource what it is. */
export interface Resource<Desc extends DescMessage, Row extends ResourceRow> {
  readonly type: ResourceType;
  /** Where it stands, if that is not the type's first pattern. */
  readonly pattern?: PathPattern;
  readonly schema: Desc;
  /** What people call it in a sentence: `API key`. */
  readonly label: string;
  readonly toMessage: (row: Row) => MessageShape<Desc>;
  readonly pathOf: (row: Row) => string;
  readonly idOf: (row: Row) => string;
  /** The id of what it is in, where it is counted there. */
  readonly parentIdOf?: (row: Row) => string;
  /** The path of that; by default what its own path is below. */
  readonly parentPathOf?: (row: Row) => string;
  /** The row as the change log keeps it: its own columns, no secrets. */
  readonly logged: (row: Row) => object;
  /** What lists can be filtered and ordered by. */
  readonly fields: FilterFields;
  /** The columns that order a list by default: unique together, never changed, and indexed below the parent. */
  readonly uniqueKey: readonly Column[];
  /** The org whose lock a write takes and whose log it appends to; the first one of the path unless said otherwise. */
  readonly scope?: Reference;
  /** The same where it follows from the resource; `message` is given when it is created. */
  readonly findScope?: (
    db: Transaction<Schema>,
    path: readonly Reference[],
    message: MessageShape<Desc> | undefined,
  ) => Promise<Reference>;
  /** Finds a row outside of transactions, batched. */
  readonly lookup: PathLookup<Row>;
  /** Answers the path with every reference before a `-` as an id; NOT_FOUND when one of them is not there. */
  readonly resolveParent: (parent: readonly Reference[]) => Promise<readonly Reference[]>;
  readonly readPage: (db: Kysely<Schema>, selection: Selection) => Promise<Row[]>;
  /** Finds a row inside a transaction. */
  readonly find: (db: Kysely<Schema>, path: readonly Reference[]) => Promise<Row | undefined>;
  /** Takes locks that a Delete and what undoes it need before the org's; whoever needs several takes them in one order. */
  readonly lockBefore?: (db: Transaction<Schema>, paths: readonly (readonly Reference[])[]) => Promise<void>;
  readonly insert?: (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    message: MessageShape<Desc>,
  ) => Promise<Row>;
  /** The same for many in a few statements, for a resource that has no `insert`; all in order, or none. */
  readonly insertMany?: (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    messages: readonly MessageShape<Desc>[],
    atItem: AtItem,
  ) => Promise<Row[]>;
  /** The same, in order, for what is in no org before it is there. It writes its change log itself. */
  readonly insertAlone?: (
    db: Transaction<Schema>,
    messages: readonly MessageShape<Desc>[],
    author: Author,
    atItem: AtItem,
  ) => Promise<Row[]>;
  readonly update?: (transaction: OrgTransaction, row: Row, message: MessageShape<Desc>) => Promise<Row>;
  /** What it can become, for one that stays readable when it is deleted. */
  readonly lifecycle?: Lifecycle<Row>;
  /** Deletes one that has no lifecycle; nothing is left of it. */
  readonly remove?: (transaction: OrgTransaction, row: Row) => Promise<void>;
  /** The same for many of one parent in one statement, for a resource that has no `remove`. */
  readonly removeMany?: (transaction: OrgTransaction, rows: readonly Row[]) => Promise<void>;
  /** The resource that an Update with `allow_missing` creates at a path; by default it gets the path's name. */
  readonly atPath?: (path: readonly Reference[], patch: MessageShape<Desc>, field: string) => MessageShape<Desc>;
  /** What of an answer may be kept. */
  readonly withoutSecrets?: (message: MessageShape<Desc>) => MessageShape<Desc>;
  /** Turns what the database objects to into what the caller did wrong; undefined for anything else. */
  readonly explain?: (error: unknown, message: MessageShape<Desc>) => ServiceError | undefined;
}

/** Where a resource stands. */
export function patternOf({ pattern, type }: Pick<Resource<never, never>, "pattern" | "type">): PathPattern {
  return pattern ?? patterns[type];
}

/** Lets the types of a resource follow from its parts. */
export function defineResource<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
): Resource<Desc, Row> {
  return resource;
}

/** What resources are made with. */
export interface ResourceDependencies {
  readonly database: Database;
  readonly pageTokens: PageTokens;
  readonly parents: Parents;
  readonly installation: Installation;
  readonly grants: Grants;
  readonly previewAccess: PreviewAccess;
  readonly limits: Limits;
  /** How long what is deleted can be brought back. */
  readonly retentionDays: number;
  readonly now: () => Date;
}
