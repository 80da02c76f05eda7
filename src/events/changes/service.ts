import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type Change,
  type ChangesHead,
  type GetChangesHeadRequest,
  type ListChangesRequest,
  type ListChangesResponse,
  type ChangesService,
  Change_View,
  ListChangesResponseSchema,
} from "../../../gen/iam/v1alpha/change_pb.ts";
import { callerOf, slicesOf } from "../../access/evaluation/call.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { parseOrderBy } from "../../filters/parse-order-by.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { toSql } from "../../filters/to-sql.ts";
import { invalidField } from "../../errors/service-error.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import { stateForbids } from "../../standard-methods/definition/lifecycle.ts";
import { listPage } from "../../standard-methods/read/list-page.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { readInTime } from "../../standard-methods/read/read-in-time.ts";
import { createWatchChanges } from "../watch/watch-changes.ts";
import type { ChangesDependencies } from "./dependencies.ts";
import { allChangeFields, changeFields } from "./fields.ts";
import { type FindOwner, type FoundOwner, createFindOwner, holdsOf } from "./find-owner.ts";
import { readLogEnd, toHead } from "./head.ts";
import { toChange } from "./message.ts";
import { createReadable } from "./readable-entries.ts";
import { findPinned, resolvePaths } from "./resolve-paths.ts";
import { type ChangeRow, cursorOf, selectChanges } from "./store.ts";

export function createChangesService(dependencies: ChangesDependencies): ServiceImpl<typeof ChangesService> {
  const { database, registry, pageTokens, listQueue, authoriserOf, loggedMessage, signHead, recordRead } = dependencies;
  const findOwner = createFindOwner(dependencies);

  const readPage = async (
    request: ListChangesRequest,
    context: HandlerContext,
    { owner, suspended }: FoundOwner,
    holds: Holds,
  ) => {
    const { filter, orderBy, view } = request;
    const fields = (await holds("iam.members.get", everywhere)) ? allChangeFields : changeFields;
    const resolved = await resolvePaths({ database, registry, owner, holds }, readFilter(filter, fields));
    const [condition, pinned] = [toSql(resolved), findPinned(resolved)];
    const descending = parseOrderBy(orderBy, changeFields)[0]?.descending ?? true;
    const binding = ["Change", owner.kind, owner.kind === "platform" ? "" : owner.id, filter, orderBy, String(view)];
    const read = async (after: Cursor | undefined, limit: number): Promise<ChangeRow[]> => {
      const states = view !== Change_View.BASIC;
      const page = selectChanges({ owner, suspended, condition, pinned, descending, after, limit, states }).compile(
        database.reads,
      );
      const statement = { text: page.sql, values: page.parameters, isKept: false };
      const [rows = []] = await readInTime(database, [statement], {}, context.timeoutMs);
      return rows as ChangeRow[];
    };
    return listPage(pageTokens, request, binding, read, cursorOf, (row) => row.is_left_out);
  };

  const listChanges = async (request: ListChangesRequest, context: HandlerContext): Promise<ListChangesResponse> => {
    const decide = await authoriserOf(callerOf(context), slicesOf(context));
    const call = { orgId: callerOf(context).orgId, target: undefined, signal: () => context.signal };
    const found = await findOwner(context, decide);
    await recordRead(context, found.owner, found.path);
    const holds = holdsOf(decide);
    const [states, proof] = [request.view !== Change_View.BASIC, request.view === Change_View.PROVED];
    // Before the page, so that a page which reaches the end has the change of this revision.
    const { owner } = found;
    const end = proof && owner.kind === "org" ? await readLogEnd(database, owner) : undefined;
    const { rows, nextPageToken } = await listQueue.run(call, () => readPage(request, context, found, holds));
    const readable = createReadable(registry, holds);
    const shown = await Promise.all(rows.map((row) => readable.shown(row, { states, proof })));
    const changes: Change[] = [];
    for (const [index, row] of rows.entries()) {
      // Each takes some tenths of a millisecond, with its messages and its proof.
      const slice = slicesOf(context).next();
      if (slice !== undefined) await slice;
      changes.push(toChange(row, shown[index] ?? hidden, loggedMessage));
    }
    const isShown = end !== undefined && changes.some((change) => change.proof?.hash === end.end.hash);
    const head = isShown ? { head: await toHead(end, signHead) } : {};
    return create(ListChangesResponseSchema, { changes, nextPageToken, ...head });
  };

  return {
    listChanges,
    getChangesHead: createGetChangesHead(dependencies, findOwner),
    watchChanges: createWatchChanges(dependencies, findOwner, recordRead),
  };
}

function createGetChangesHead(
  { database, authoriserOf, signHead }: ChangesDependencies,
  findOwner: FindOwner,
): ServiceImpl<typeof ChangesService>["getChangesHead"] {
  return async (_request: GetChangesHeadRequest, context: HandlerContext): Promise<ChangesHead> => {
    const decide = await authoriserOf(callerOf(context), slicesOf(context));
    const { owner, path } = await findOwner(context, decide);
    if (owner.kind === "platform") throw invalidField("parent_path", "must name an org or a customer", "log_of_one");
    const end = await readLogEnd(database, owner);
    if (end === undefined) {
      throw stateForbids(`the last change in ${path} is one of an earlier version and has no proof`, path, "UNPROVED");
    }
    return toHead(end, signHead);
  };
}

const everywhere: AnyPath = { pattern: [], references: [] };

const hidden = { resource: false, origin: false, states: false, proof: false };
