// The standard methods, once (AIP-131 to 135): what Get, List, Create, Update and Delete mean is said here, for every
// resource alike. A resource adds what is its own: its statements and how a row becomes a message.
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { Kysely, Transaction } from "kysely";
import type { Author } from "../changes/author.ts";
import { type OrgTransaction, inTransaction, writeInOrg } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import { ServiceError, deleted, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { type ResourceType, patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import type { Installation } from "../identity/installation.ts";
import { applyUpdate } from "./apply-update.ts";
import { type Page, type PageRequest, listPage } from "./list-page.ts";
import type { Cursor, PageTokens } from "./page-token.ts";
import type { Parents } from "./parents.ts";
import type { PathLookup } from "./path-lookup.ts";

/** A row as the standard methods see it. */
export interface ResourceRow {
  readonly changed_revision: string;
  readonly delete_time?: Date | null;
}

/** What to list. */
export interface Selection {
  readonly parent: readonly Reference[];
  readonly showDeleted: boolean;
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
  /** The values that order a list, unique together. */
  readonly cursorOf: (row: Row) => Cursor;
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
  /** Turns what the database objects to into what the caller did wrong; undefined for anything else. */
  readonly explain?: (error: unknown, message: MessageShape<Desc> | undefined) => ServiceError | undefined;
}

/** Lets the types of a resource follow from its parts. */
export function defineResource<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
): Resource<Desc, Row> {
  return resource;
}

interface UpdateRequest<Desc extends DescMessage> {
  readonly patch: MessageShape<Desc> & { readonly etag?: string };
  readonly mask: FieldMask | undefined;
  /** The request's field that holds the patch. */
  readonly field: string;
}

export interface StandardMethods<Desc extends DescMessage, Row extends ResourceRow> {
  get(path: readonly Reference[]): Promise<Row>;
  list(parent: readonly Reference[], request: PageRequest & { readonly showDeleted?: boolean }): Promise<Page<Row>>;
  create(parent: readonly Reference[], message: MessageShape<Desc>, author: Author): Promise<Row>;
  update(path: readonly Reference[], request: UpdateRequest<Desc>, author: Author): Promise<Row>;
  delete(path: readonly Reference[], etag: string, author: Author): Promise<Row | null>;
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

  const write = async <Result>(
    path: readonly Reference[],
    author: Author,
    message: MessageShape<Desc> | undefined,
    run: (transaction: OrgTransaction) => Promise<Result>,
    before?: typeof resource.lockBeforeDelete,
  ): Promise<Result> => {
    try {
      return await inTransaction(database, async (db) => {
        await before?.(db, path);
        return writeInOrg(db, scopeOf(path), author, run);
      });
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

  /** The row that a write is about, which must be there, not deleted and, if the caller says so, unchanged. */
  const rowToChange = async (transaction: OrgTransaction, path: readonly Reference[], etag: string): Promise<Row> => {
    const row = await resource.find(transaction.db, path);
    if (row === undefined) throw notFound(resource.label, formatReferences(pattern, path));
    if (row.delete_time) throw deleted(resource.label, resource.pathOf(row));
    if (etag !== "" && etag !== row.changed_revision) throw stale(resource.label, resource.pathOf(row));
    return row;
  };

  return {
    async get(path) {
      const row = await resource.lookup(path);
      if (row === undefined) throw notFound(resource.label, formatReferences(pattern, path));
      return row;
    },

    async list(path, request) {
      const parent = await resource.resolveParent(path);
      const showDeleted = request.showDeleted ?? false;
      const binding = [resource.type, formatReferences(pattern, parent), String(showDeleted)];
      return listPage(
        pageTokens,
        request,
        binding,
        (after, limit) => resource.readPage(database.reads, { parent, showDeleted, after, limit }),
        resource.cursorOf,
      );
    },

    create(parent, message, author) {
      return write(parent, author, message, async (transaction) => {
        if (resource.insert === undefined) throw new Error(`a ${resource.label} is not created by itself`);
        const row = await resource.insert(transaction, parent, message);
        record(transaction, null, row);
        return row;
      });
    },

    update(path, { patch, mask, field }, author) {
      return write(path, author, patch, async (transaction) => {
        const row = await rowToChange(transaction, path, patch.etag ?? "");
        const { resource: next, changed } = applyUpdate(resource.schema, resource.toMessage(row), patch, mask, field);
        if (!changed) return row;
        if (resource.update === undefined) throw new Error(`a ${resource.label} cannot be updated`);
        const after = await resource.update(transaction, row, next);
        record(transaction, row, after);
        return after;
      });
    },

    delete(path, etag, author) {
      const run = async (transaction: OrgTransaction): Promise<Row | null> => {
        const row = await rowToChange(transaction, path, etag);
        const after = await resource.remove(transaction, row);
        record(transaction, row, after);
        return after;
      };
      return write(path, author, undefined, run, resource.lockBeforeDelete);
    },
  };
}

function stale(label: string, path: string): ServiceError {
  return new ServiceError("ETAG_STALE", `the ${label} ${path} has changed since this etag was read; read it again`, {
    metadata: { resource: path },
  });
}
