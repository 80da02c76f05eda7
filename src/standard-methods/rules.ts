import type { FairQueue } from "../scheduling/fair-queue.ts";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { RawBuilder, SqlBool, Updateable } from "kysely";
import type { EscalationGuard, Revocation } from "../access/escalation/guard-types.ts";
import type { AuthorHolds } from "../access/evaluation/author-holds.ts";
import type { PreviewAccess } from "../access/previews/preview.ts";
import type { Author } from "../changes/author.ts";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { WriteLocks } from "../changes/write-locks.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import type { ServiceError } from "../errors/service-error.ts";
import type { RecentOrgs } from "../identity/recent-orgs.ts";
import type { Installation } from "../identity/installation.ts";
import type { Reference } from "../paths/parse-path.ts";
import type { AtItem } from "./batch/batch-item.ts";
import type {
  OwnColumns,
  TypedDefinition,
  ResourcePlace,
  ResourceRow,
  ResourceTable,
} from "./definition/definition.ts";
import type { Transition } from "./definition/lifecycle.ts";
import type { Limits } from "./definition/limits.ts";
import type { PastReads } from "./past/past-reads.ts";
import type { PageTokens } from "./read/page-token.ts";
import type { ResourceRegistry } from "./definition/registry.ts";
import type { RevalidatedResponses } from "./read/revalidated-responses.ts";
import type { RowReader, RowReaders } from "./read/row-reader.ts";
import type { WriteGroups } from "./write/write-groups.ts";
import type { WriteTransaction } from "../database/write-transaction.ts";

/**
 * Selects the org, or the customer, whose lock a write takes, and to whose change log it appends (`locksOf`):
 *
 * - `parent`: the first reference of the path, which every resource of the call is in;
 * - `itself`: the resource is an org. The state of an org blocks writes to its contents, but not to the org itself;
 * - `fixed`: always the same org, for a resource that is in no org;
 * - `customer`: the resource is a customer, or in one and in no org: its changes are in the log of the customer;
 * - `each`: derived from the resource; `message` is set when the resource is created.
 */
export type WriteScope<Message> =
  | { readonly kind: "parent" }
  | { readonly kind: "itself" }
  | { readonly kind: "fixed"; readonly org: Reference }
  | { readonly kind: "customer"; locksOf(customer: Reference): WriteLocks }
  | {
      readonly kind: "each";
      find(db: WriteTransaction, path: readonly Reference[], message: Message | undefined): Promise<Reference>;
    };

/** Checks the message of a new resource. Returns what the creation needs of the result. */
export type Check<Desc extends DescMessage, Checked> = (message: MessageShape<Desc>) => Checked;

/** The end of a check: returns its result, or throws the error with which it failed. */
export type Outcome<Checked> = () => Checked;

/** A row to be created. The drafts of a resource may have more fields, which its `creation` reads after the insert. */
export interface Draft<Table extends ResourceTable, Row extends ResourceRow> {
  readonly columns: OwnColumns<Table>;
  /** The columns that a read returns besides the resource's own. If undefined, the row is read again after the insert. */
  readonly joined?: Omit<Row, keyof Schema[Table]>;
  /** The parent, as it was read under the lock of the org. If undefined, it is read to check that it is open. */
  readonly parent?: ResourceRow & { readonly id: string };
}

/** How a resource is created. */
type Creation<Row extends ResourceRow, Message, NewRow, Checked> =
  /**
   * In an org, under its lock. `prepare` checks the messages in order and returns a draft for each, or fails for all. The parents
   * are those of the messages, all in the org; `checked` has what `startCheck` found of each, up to the first one that is at fault.
   */
  | {
      readonly kind: "in org";
      prepare(
        transaction: OrgTransaction,
        parents: readonly (readonly Reference[])[],
        messages: readonly Message[],
        atItem: AtItem,
        checked: readonly Outcome<Checked>[],
      ): Promise<NewRow[]>;
    }
  /** Outside of any existing org. `insert` inserts the rows and writes the change log itself. */
  | {
      readonly kind: "alone";
      insert(db: WriteTransaction, messages: readonly Message[], author: Author, atItem: AtItem): Promise<Row[]>;
    }
  /** Only together with another resource. */
  | { readonly kind: "with another" };

/** What a write does to a row that exists. */
type RowStep = "update" | "remove" | Transition;

/** A write of a row. An update has the row with the columns that it changes by rule, which `change` returned. */
export type RowWrite<Row> =
  | { readonly step: "update"; readonly row: Row; readonly after: Row }
  | { readonly step: Exclude<RowStep, "update">; readonly row: Row };

/** The behaviour that is specific to one resource. What all resources have in common follows from the definition. */
export interface ResourceRules<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row> = Draft<Table, Row>,
  Checked = unknown,
> {
  readonly scope: WriteScope<MessageShape<Desc>>;
  readonly creation: Creation<Row, MessageShape<Desc>, NewRow, Checked>;
  /**
   * Starts to check the new resources of a request before any lock, and returns the check of one: for what takes long, such as to read
   * a text that is a program. `creation` gets what it returns or throws.
   */
  startCheck?(messages: readonly MessageShape<Desc>[]): Check<Desc, Checked> | Promise<Check<Desc, Checked>>;
  /** Checks an update and returns the columns that it changes besides the named fields. */
  change?(transaction: OrgTransaction, row: Row, message: MessageShape<Desc>): Promise<Updateable<Schema[Table]>>;
  /**
   * Returns the access that a write takes away from members; `nothing` for a resource whose writes take none. Required, so that
   * no resource leaves this undecided.
   */
  readonly revokes: "nothing" | ((write: RowWrite<Row>) => readonly Revocation[]);
  /** Checks whether rows may be removed permanently, and throws if not; or makes the changes that go with it. */
  beforeRemove?(transaction: OrgTransaction, rows: readonly Row[]): Promise<void> | void;
  /**
   * Checks a transition, or makes the changes that go with it. Runs before the row itself is changed.
   *
   * @param force whether a deletion was requested with `force`.
   */
  beforeTransition?(
    transaction: OrgTransaction,
    row: Row,
    transition: Transition,
    force: boolean,
  ): Promise<void> | void;
  /** Returns the resource's own columns that a transition changes. */
  transitionColumns?(transition: Transition): Updateable<Schema[Table]> | undefined;
  /** What may leave an org without an owner, and is refused then. */
  readonly mayLeaveNoOwner?: readonly RowStep[];
  /**
   * Returns the messages of rows that a Get or List has read as its caller may see them; absent if all callers see the same. Such
   * responses are not reused.
   */
  show?(
    context: HandlerContext,
    rows: readonly Row[],
    messages: readonly MessageShape<Desc>[],
  ): Promise<readonly MessageShape<Desc>[]>;
  /** Returns the condition that rows are among those that a list may show; undefined if it may show all. */
  visible?(context: HandlerContext): RawBuilder<SqlBool> | undefined | Promise<RawBuilder<SqlBool> | undefined>;
  /** Returns the resource that an Update with `allow_missing` creates at a path. By default it gets the name in the path. */
  atPath?(path: readonly Reference[], patch: MessageShape<Desc>, field: string): MessageShape<Desc>;
  /** Maps a database error to an error of the caller. Returns undefined for any other error. */
  mapError?(
    error: unknown,
    message: MessageShape<Desc>,
    author: Author,
  ): ServiceError | undefined | Promise<ServiceError | undefined>;
}

/** A resource in one of its places, with everything that its methods need. */
export interface ServedResource<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  NewRow extends Draft<Table, Row> = Draft<Table, Row>,
  Checked = unknown,
> {
  readonly definition: TypedDefinition<Table, Row, Desc>;
  readonly place: ResourcePlace;
  readonly rules: ResourceRules<Table, Row, Desc, NewRow, Checked>;
  readonly reader: RowReader<Row>;
  readonly dependencies: ResourceDependencies;
}

/** The dependencies of the standard methods. */
export interface ResourceDependencies {
  readonly database: Database;
  readonly registry: ResourceRegistry;
  readonly readers: RowReaders;
  readonly pageTokens: PageTokens;
  readonly pastReads: PastReads;
  readonly installation: Installation;
  readonly escalation: EscalationGuard;
  readonly authorHolds: AuthorHolds;
  readonly previewAccess: PreviewAccess;
  /** Where writes and lists wait for a connection. */
  readonly writeQueue: FairQueue;
  readonly writeGroups: WriteGroups;
  readonly previewQueue: FairQueue;
  readonly listQueue: FairQueue;
  readonly revalidatedResponses: RevalidatedResponses;
  readonly recentOrgs: RecentOrgs;
  readonly limits: Limits;
  /** The number of days during which a deleted resource can be undeleted. */
  readonly retentionDays: number;
}
