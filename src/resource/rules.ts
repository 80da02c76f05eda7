import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Transaction, Updateable } from "kysely";
import type { Grants } from "../access/grants.ts";
import type { PreviewAccess } from "../access/preview.ts";
import type { Author } from "../changes/author.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import type { ServiceError } from "../errors/service-error.ts";
import type { Installation } from "../identity/installation.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { AtItem } from "./batch/batch-item.ts";
import type { OwnColumns, TypedDefinition, ResourcePlace, ResourceRow, ResourceTable } from "./definition.ts";
import type { Transition } from "./lifecycle.ts";
import type { Limits } from "./limits.ts";
import type { PageTokens } from "./page-token.ts";
import type { ResourceRegistry } from "./registry.ts";
import type { RowReader, RowReaders } from "./row-reader.ts";

/**
 * The org whose lock a write takes, and whose change log it appends to:
 *
 * - `parent`: the one that the path begins with, for all that a call is about;
 * - `itself`: the resource is an org, whose state stands in the way of what is in it and not of what becomes of itself;
 * - `fixed`: always the same one, for what is in no org;
 * - `each`: one that follows from the resource; `message` is given when it is created.
 */
export type WriteScope<Message> =
  | { readonly kind: "parent" }
  | { readonly kind: "itself" }
  | { readonly kind: "fixed"; readonly org: Reference }
  | {
      readonly kind: "each";
      find(db: Transaction<Schema>, path: readonly Reference[], message: Message | undefined): Promise<Reference>;
    };

/** A row to be created. */
interface Draft<Table extends ResourceTable, Row extends ResourceRow> {
  readonly columns: OwnColumns<Table>;
  /** What a read of it has beside its own columns; without that it is read again once it is inserted. */
  readonly joined?: Omit<Row, keyof Schema[Table]>;
}

/** How a resource comes to be. */
type Creation<Table extends ResourceTable, Row extends ResourceRow, Message> =
  /** In an org, under its lock. Checks what is to be created, all or none of it, in order. */
  | {
      readonly kind: "in org";
      prepare(
        transaction: OrgTransaction,
        parent: readonly Reference[],
        messages: readonly Message[],
        atItem: AtItem,
      ): Promise<Draft<Table, Row>[]>;
    }
  /** It is in no org before it is there: inserts it, and writes its change log itself. */
  | {
      readonly kind: "alone";
      insert(db: Transaction<Schema>, messages: readonly Message[], author: Author, atItem: AtItem): Promise<Row[]>;
    }
  /** Only together with something else. */
  | { readonly kind: "with another" };

/** A write that a guard may refuse for what it leaves. */
type GuardedStep = "update" | "remove" | Transition;

/** What only this resource does when it is written; what every resource does is said by its definition. */
export interface ResourceRules<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage> {
  readonly scope: WriteScope<MessageShape<Desc>>;
  readonly creation: Creation<Table, Row, MessageShape<Desc>>;
  /** Checks an update; answers the columns that it changes beside those of its name and labels. */
  change?(transaction: OrgTransaction, row: Row, message: MessageShape<Desc>): Promise<Updateable<Schema[Table]>>;
  /** Takes locks that a Delete and what undoes it need before the org's. Those who need several take them in one order. */
  lockBefore?(db: Transaction<Schema>, paths: readonly (readonly Reference[])[]): Promise<void>;
  /** Refuses to remove rows of which nothing stays. */
  beforeRemove?(transaction: OrgTransaction, rows: readonly Row[]): Promise<void> | void;
  /** Refuses a transition, or does what goes with it; before the row itself is changed. */
  beforeTransition?(transaction: OrgTransaction, row: Row, transition: Transition): Promise<void> | void;
  /** Columns of its own that a transition changes. */
  transitionColumns?(transition: Transition): Updateable<Schema[Table]> | undefined;
  /** Runs a write, and refuses it for what it leaves. */
  guard?<Result>(transaction: OrgTransaction, step: GuardedStep, write: () => Promise<Result>): Promise<Result>;
  /** The resource that an Update with `allow_missing` creates at a path; by default it gets the path's name. */
  atPath?(path: readonly Reference[], patch: MessageShape<Desc>, field: string): MessageShape<Desc>;
  /** Turns what the database objects to into what the caller did wrong; undefined for anything else. */
  explain?(error: unknown, message: MessageShape<Desc>): ServiceError | undefined;
}

/** A resource in one of its places, with all that its methods need. */
export interface ServedResource<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage> {
  readonly definition: TypedDefinition<Table, Row, Desc>;
  readonly place: ResourcePlace;
  readonly rules: ResourceRules<Table, Row, Desc>;
  readonly reader: RowReader<Row>;
  readonly dependencies: ResourceDependencies;
}

/** What resources are served with. */
export interface ResourceDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly readers: RowReaders;
  readonly pageTokens: PageTokens;
  readonly installation: Installation;
  readonly grants: Grants;
  readonly previewAccess: PreviewAccess;
  readonly limits: Limits;
  /** How long what is deleted can be brought back. */
  readonly retentionDays: number;
  readonly now: () => Date;
}
