// The standard methods, once (AIP-131 to 135): what Get, List, Create, Update and Delete mean is said here, for every
// resource alike. A resource adds what is its own: its statements and how a row becomes a message.
import { type DescMessage, type Message, type MessageShape, clone, create } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Expression, Kysely, SqlBool, Transaction } from "kysely";
import { type OrgTransaction, writeInOrg } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError, deleted, invalidField, notFound } from "../errors/service-error.ts";
import type { Column, FilterFields } from "../filters/filter-fields.ts";
import { cursorOf, withUniqueKey } from "../filters/keyset.ts";
import { type OrderKey, parseOrderBy } from "../filters/parse-order-by.ts";
import { readFilter } from "../filters/read-filter.ts";
import { toSql } from "../filters/to-sql.ts";
import { formatReferences } from "../paths/format-path.ts";
import { type ResourceType, patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { Installation } from "../identity/installation.ts";
import { applyUpdate } from "./apply-update.ts";
import { type Page, type PageRequest, listPage } from "./list-page.ts";
import type { Cursor, PageTokens } from "./page-token.ts";
import type { Parents } from "./parents.ts";
import type { PathLookup } from "./path-lookup.ts";
import { validateMessage } from "./validate-message.ts";
import { type WriteRequest, runWrite } from "./write-request.ts";

/** A row as the standard methods see it. */
export interface ResourceRow {
  readonly changed_revision: string;
  readonly delete_time?: Date | null;
}

/** What to list. */
export interface Selection {
  readonly parent: readonly Reference[];
  readonly showDeleted: boolean;
  readonly condition: Expression<SqlBool>;
  readonly order: readonly OrderKey[];
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** What makes a resource what it is. */
export interface Resource<Desc extends DescMessage, Row extends ResourceRow> {
  readonly type: ResourceType;
  readonly schema: Desc;
  /** What people call it in a sentence: `API key`. */
  readonly label: string;
  readonly toMessage: (row: Row) => MessageShape<Desc>;
  readonly pathOf: (row: Row) => string;
  readonly idOf: (row: Row) => string;
  /** The row as the change log keeps it: its own columns, no secrets. */
  readonly logged: (row: Row) => object;
  /** What lists can be filtered and ordered by. */
  readonly fields: FilterFields;
  /** The columns that order a list by default: unique together, never changed, and indexed below the parent. */
  readonly uniqueKey: readonly Column[];
  /** The org whose lock a write takes and whose log it appends to; the first one of the path unless said otherwise. */
  readonly scope?: Reference;
  /** Finds a row outside of transactions, batched. */
  readonly lookup: PathLookup<Row>;
  /** Answers the path with every reference before a `-` as an id; NOT_FOUND when one of them is not there. */
  readonly resolveParent: (parent: readonly Reference[]) => Promise<readonly Reference[]>;
  readonly readPage: (db: Kysely<Schema>, selection: Selection) => Promise<Row[]>;
  /** Finds a row inside a transaction. */
  readonly find: (db: Kysely<Schema>, path: readonly Reference[]) => Promise<Row | undefined>;
  /** Takes locks that a Delete needs before the org's; whoever needs several takes them in one order everywhere. */
  readonly lockBeforeDelete?: (db: Transaction<Schema>, path: readonly Reference[]) => Promise<void>;
  readonly insert?: (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    message: MessageShape<Desc>,
  ) => Promise<Row>;
  readonly update?: (transaction: OrgTransaction, row: Row, message: MessageShape<Desc>) => Promise<Row>;
  /** Answers the row as it stays readable, or null when nothing is left of it. */
  readonly remove: (transaction: OrgTransaction, row: Row) => Promise<Row | null>;
  /** The resource that an Update with `allow_missing` creates at a path; by default it gets the path's name. */
  readonly atPath?: (path: readonly Reference[], patch: MessageShape<Desc>, field: string) => MessageShape<Desc>;
  /** What of an answer may be kept. */
  readonly withoutSecrets?: (message: MessageShape<Desc>) => MessageShape<Desc>;
  /** Turns what the database objects to into what the caller did wrong; undefined for anything else. */
  readonly explain?: (error: unknown, message: MessageShape<Desc> | undefined) => ServiceError | undefined;
}

/** Lets the types of a resource follow from its parts. */
export function defineResource<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
): Resource<Desc, Row> {
  return resource;
}

interface Update<Desc extends DescMessage> {
  readonly patch: MessageShape<Desc> & { readonly etag?: string };
  readonly mask: FieldMask | undefined;
  /** The request's field that holds the patch. */
  readonly field: string;
}

/** The fields of a List request that are not its parent. */
interface ListRequest extends PageRequest {
  readonly showDeleted?: boolean;
  readonly filter: string;
  readonly orderBy: string;
}

/** Writes answer the resource; a Delete that leaves nothing of it, or found nothing, answers an empty message. */
export interface StandardMethods<Desc extends DescMessage, Row extends ResourceRow> {
  get(path: readonly Reference[]): Promise<Row>;
  list(parent: readonly Reference[], request: ListRequest): Promise<Page<Row>>;
  create(parent: readonly Reference[], message: MessageShape<Desc>, request: WriteRequest): Promise<Message>;
  update(path: readonly Reference[], update: Update<Desc>, request: WriteRequest): Promise<Message>;
  delete(path: readonly Reference[], etag: string, request: WriteRequest): Promise<Message>;
}

export interface ResourceDependencies {
  readonly database: Database;
  readonly pageTokens: PageTokens;
  readonly parents: Parents;
  readonly installation: Installation;
  readonly now: () => Date;
}

export function createStandardMethods<Desc extends DescMessage, Row extends ResourceRow>(
  { database, pageTokens }: Pick<ResourceDependencies, "database" | "pageTokens">,
  resource: Resource<Desc, Row>,
): StandardMethods<Desc, Row> {
  const pattern = patterns[resource.type];
  const scopeOf = ([org]: readonly Reference[]): Reference => resource.scope ?? (org as Reference);

  const write = async (
    path: readonly Reference[],
    request: WriteRequest,
    message: MessageShape<Desc> | undefined,
    run: (transaction: OrgTransaction) => Promise<Row | null>,
    /** What there is to do before the org is locked; what it answers is the answer. */
    before: (db: Transaction<Schema>) => Promise<Row | null | undefined> = () => Promise.resolve(undefined),
  ): Promise<Message> => {
    const toAnswer = (row: Row | null): Message => (row === null ? create(request.answer) : resource.toMessage(row));
    try {
      return await runWrite(
        database,
        request,
        async (db) => {
          const early = await before(db);
          return toAnswer(early === undefined ? await writeInOrg(db, scopeOf(path), request.author, run) : early);
        },
        resource.withoutSecrets as ((answer: Message) => Message) | undefined,
      );
    } catch (error) {
      throw resource.explain?.(error, message) ?? error;
    }
  };

  const record = (transaction: OrgTransaction, before: Row | null, after: Row | null): void => {
    const row = after ?? before;
    if (row === null) throw new Error("a change of nothing");
    transaction.record({
      type: resource.type,
      id: resource.idOf(row),
      path: resource.pathOf(before ?? row),
      before: before === null ? null : resource.logged(before),
      after: after === null ? null : resource.logged(after),
    });
  };

  /** Checks that a row may be changed: it is there, not deleted and, if the caller says so, unchanged. */
  const checkChangeable = (row: Row | undefined, path: readonly Reference[], etag: string): Row => {
    if (row === undefined) throw notFound(resource.label, formatReferences(pattern, path));
    if (row.delete_time) throw deleted(resource.label, resource.pathOf(row));
    if (etag !== "" && etag !== row.changed_revision) throw stale(resource.label, resource.pathOf(row));
    return row;
  };

  const insert = async (
    transaction: OrgTransaction,
    parent: readonly Reference[],
    message: MessageShape<Desc>,
  ): Promise<Row> => {
    if (resource.insert === undefined) throw new Error(`a ${resource.label} is not created by itself`);
    const row = await resource.insert(transaction, parent, message);
    record(transaction, null, row);
    return row;
  };

  return {
    async get(path) {
      const row = await resource.lookup(path);
      if (row === undefined) throw notFound(resource.label, formatReferences(pattern, path));
      return row;
    },

    async list(path, request) {
      const { showDeleted = false, filter, orderBy } = request;
      const condition = toSql(readFilter(filter, resource.fields));
      const order = withUniqueKey(parseOrderBy(orderBy, resource.fields), resource.uniqueKey);
      const parent = await resource.resolveParent(path);
      const binding = [resource.type, formatReferences(pattern, parent), String(showDeleted), filter, orderBy];
      return listPage(
        pageTokens,
        request,
        binding,
        (after, limit) => resource.readPage(database.reads, { parent, showDeleted, condition, order, after, limit }),
        (row) => cursorOf(order, row),
      );
    },

    create(parent, message, request) {
      return write(parent, request, message, (transaction) => insert(transaction, parent, message));
    },

    update(path, { patch, mask, field }, request) {
      return write(path, request, patch, async (transaction) => {
        const found = await resource.find(transaction.db, path);
        const etag = patch.etag ?? "";
        if (found === undefined && request.allowMissing && etag === "") {
          const message = resource.atPath?.(path, patch, field) ?? atNamedPath(resource, path, patch, field);
          validateMessage(resource.schema, message, `${field}.`);
          return insert(transaction, path.slice(0, -1), message);
        }
        const row = checkChangeable(found, path, etag);
        const { resource: next, changed } = applyUpdate(resource.schema, resource.toMessage(row), patch, mask, field);
        if (!changed) return row;
        if (resource.update === undefined) throw new Error(`a ${resource.label} cannot be updated`);
        const after = await resource.update(transaction, row, next);
        record(transaction, row, after);
        return after;
      });
    },

    delete(path, etag, request) {
      const run = async (transaction: OrgTransaction): Promise<Row | null> => {
        const found = await resource.find(transaction.db, path);
        if (request.allowMissing && isGone(found)) return found ?? null;
        const row = checkChangeable(found, path, etag);
        const after = await resource.remove(transaction, row);
        record(transaction, row, after);
        return after;
      };
      return write(path, request, undefined, run, async (db) => {
        await resource.lockBeforeDelete?.(db, path);
        // After that lock, so that of many at once those that come late see it; also when what it was in is gone.
        const found = request.allowMissing ? await resource.find(db, path) : undefined;
        return request.allowMissing && isGone(found) ? (found ?? null) : undefined;
      });
    },
  };
}

function isGone(row: ResourceRow | undefined): boolean {
  return row === undefined || Boolean(row.delete_time);
}

/** The resource that an Update with `allow_missing` creates: it has the name that the path gives it. */
function atNamedPath<Desc extends DescMessage, Row extends ResourceRow>(
  { schema, label, type }: Resource<Desc, Row>,
  path: readonly Reference[],
  patch: MessageShape<Desc>,
  field: string,
): MessageShape<Desc> {
  const last = path.at(-1);
  // Nobody can choose an id.
  if (last?.by !== "name") throw notFound(label, formatReferences(patterns[type], path));
  const named = clone(schema, patch) as MessageShape<Desc> & { name: string };
  if (named.name !== "" && named.name !== last.value) {
    throw invalidField(`${field}.name`, `must be ${JSON.stringify(last.value)}, as in the path, or empty`, "name");
  }
  named.name = last.value;
  return named;
}

function stale(label: string, path: string): ServiceError {
  return new ServiceError("ETAG_STALE", `the ${label} ${path} has changed since this etag was read; read it again`, {
    metadata: { resource: path },
  });
}
