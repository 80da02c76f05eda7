// The standard methods, once (AIP-131 to 135): what Get, List, Create, Update and Delete mean is said here, for every
// resource alike. A resource adds what is its own: its statements and how a row becomes a message.
import { type DescMessage, type Message, type MessageShape, clone } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { OrgTransaction } from "../changes/write-in-org.ts";
import type { VisibleOrgs } from "../access/authorise.ts";
import { deleted, invalidField, notFound } from "../errors/service-error.ts";
import { cursorOf, withUniqueKey } from "../filters/keyset.ts";
import { parseOrderBy } from "../filters/parse-order-by.ts";
import { readFilter } from "../filters/read-filter.ts";
import { toSql } from "../filters/to-sql.ts";
import { formatReferences } from "../paths/format-path.ts";
import type { Reference } from "../paths/resource-path.ts";
import { applyUpdate } from "./apply-update.ts";
import { countResources } from "./limits.ts";
import { type Page, type PageRequest, listPage } from "./list-page.ts";
import type { ResourceWriter } from "./resource-writer.ts";
import { type Resource, type ResourceDependencies, type ResourceRow, patternOf } from "./resource.ts";
import { required } from "./required.ts";
import { validateMessage } from "./validate-message.ts";
import type { WriteRequest } from "./write-request.ts";

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

/** A page, and how many there are in all where that is known. */
interface CountedPage<Row> extends Page<Row> {
  readonly totalSize: number | undefined;
}

/** Writes answer the resource; a Delete that leaves nothing of it, or found nothing, answers an empty message. */
export interface StandardMethods<Desc extends DescMessage, Row extends ResourceRow> {
  get(path: readonly Reference[]): Promise<Row>;
  /** @param counts whether to answer how many there are, if that can be told. */
  list(
    parent: readonly Reference[],
    request: ListRequest,
    visible: VisibleOrgs | undefined,
    counts: boolean,
  ): Promise<CountedPage<Row>>;
  create(parent: readonly Reference[], message: MessageShape<Desc>, request: WriteRequest): Promise<Message>;
  update(path: readonly Reference[], update: Update<Desc>, request: WriteRequest): Promise<Message>;
  delete(path: readonly Reference[], etag: string, request: WriteRequest): Promise<Message>;
}

export function createStandardMethods<Desc extends DescMessage, Row extends ResourceRow>(
  { database, pageTokens }: Pick<ResourceDependencies, "database" | "pageTokens">,
  resource: Resource<Desc, Row>,
  writer: ResourceWriter<Desc, Row>,
): StandardMethods<Desc, Row> {
  const pattern = patternOf(resource);

  /** @param parent as `resolveParent` answers it: of one parent, all references are ids. */
  const totalSize = async (parent: readonly Reference[]): Promise<number | undefined> => {
    const [orgId, parentId] = [parent[0], parent.at(-1)];
    if (orgId?.by !== "id" || parentId?.by !== "id") return undefined;
    return countResources(database.reads, { type: resource.type, orgId: orgId.value, parentId: parentId.value });
  };

  return {
    async get(path) {
      const row = await resource.lookup(path);
      if (row === undefined) throw notFound(resource.label, formatReferences(pattern, path));
      return row;
    },

    async list(path, request, visible, counts) {
      const { showDeleted = false, filter, orderBy } = request;
      const condition = toSql(readFilter(filter, resource.fields));
      const order = withUniqueKey(parseOrderBy(orderBy, resource.fields), resource.uniqueKey);
      const parent = await resource.resolveParent(path);
      const binding = [resource.type, formatReferences(pattern, parent), String(showDeleted), filter, orderBy];
      const page = listPage(
        pageTokens,
        request,
        binding,
        (after, limit) =>
          resource.readPage(database.reads, { parent, showDeleted, visible, condition, order, after, limit }),
        (row) => cursorOf(order, row),
      );
      const isWhole = counts && !showDeleted && filter === "";
      const [found, total] = await Promise.all([page, isWhole ? totalSize(parent) : undefined]);
      return { ...found, totalSize: total };
    },

    create(parent, message, request) {
      return writer.run(request, async (db) => {
        const [row] = await writer.createAll(db, parent, [message], request);
        return writer.answer(request, required(row));
      });
    },

    update(path, { patch, mask, field }, request) {
      return writer.run(request, async (db) => {
        const etag = patch.etag ?? "";
        const mayBeMissing = request.allowMissing && etag === "";
        const write = async (transaction: OrgTransaction): Promise<Row> => {
          const found = await resource.find(transaction.db, path);
          if (found === undefined && mayBeMissing) {
            const message = resource.atPath?.(path, patch, field) ?? atNamedPath(resource, path, patch, field);
            validateMessage(resource.schema, message, `${field}.`);
            return writer.insert(transaction, path.slice(0, -1), message);
          }
          const before = writer.requireFound(found, path, etag);
          if (before.delete_time) throw deleted(resource.label, resource.pathOf(before));
          const current = resource.toMessage(before);
          const { resource: next, changed } = applyUpdate(resource.schema, current, patch, mask, field);
          return changed ? writer.update(transaction, before, next) : before;
        };
        const isNew = mayBeMissing && (await resource.find(db, path)) === undefined;
        return writer.answer(request, await writer.inScope(db, path, request, write, isNew ? patch : undefined));
      });
    },

    delete(path, etag, request) {
      return writer.run(request, async (db) => {
        await resource.lockBefore?.(db, [path]);
        // After that lock, so that of many at once those that come late see it; also when what it was in is gone.
        const early = request.allowMissing ? await resource.find(db, path) : undefined;
        if (request.allowMissing && isGone(early)) return writer.answer(request, early ?? null);
        const row = await writer.inScope(db, path, request, async (transaction) => {
          const found = await resource.find(transaction.db, path);
          if (request.allowMissing && isGone(found)) return found ?? null;
          return writer.remove(transaction, writer.requireFound(found, path, etag));
        });
        return writer.answer(request, row);
      });
    },
  };
}

export function isGone(row: ResourceRow | undefined): boolean {
  return row === undefined || Boolean(row.delete_time);
}

/** The resource that an Update with `allow_missing` creates: it has the name that the path gives it. */
function atNamedPath<Desc extends DescMessage, Row extends ResourceRow>(
  resource: Resource<Desc, Row>,
  path: readonly Reference[],
  patch: MessageShape<Desc>,
  field: string,
): MessageShape<Desc> {
  const last = path.at(-1);
  // Nobody can choose an id.
  if (last?.by !== "name") throw notFound(resource.label, formatReferences(patternOf(resource), path));
  const named = clone(resource.schema, patch) as MessageShape<Desc> & { name: string };
  if (named.name !== "" && named.name !== last.value) {
    throw invalidField(`${field}.name`, `must be ${JSON.stringify(last.value)}, as in the path, or empty`, "name");
  }
  named.name = last.value;
  return named;
}
