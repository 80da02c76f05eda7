import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type Change,
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
import type { AnyPath } from "../../paths/parse-path.ts";
import { listPage } from "../../standard-methods/read/list-page.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { readInTime } from "../../standard-methods/read/read-in-time.ts";
import { createWatchChanges } from "../watch/watch-changes.ts";
import type { ChangesDependencies } from "./dependencies.ts";
import { allChangeFields, changeFields } from "./fields.ts";
import { type FoundOwner, createFindOwner, holdsOf } from "./find-owner.ts";
import { toChange } from "./message.ts";
import { createReadable } from "./readable-entries.ts";
import { createRecordRead } from "./record-read.ts";
import { resolvePaths } from "./resolve-paths.ts";
import { type ChangeRow, cursorOf, selectChanges } from "./store.ts";

export function createChangesService(dependencies: ChangesDependencies): ServiceImpl<typeof ChangesService> {
  const { database, registry, pageTokens, listQueue, authoriserOf, loggedMessage } = dependencies;
  const findOwner = createFindOwner(dependencies);
  const recordRead = createRecordRead(dependencies);

  const readPage = async (
    request: ListChangesRequest,
    context: HandlerContext,
    { owner, suspended }: FoundOwner,
    holds: Holds,
  ) => {
    const { filter, orderBy, view } = request;
    const fields = (await holds("iam.members.get", everywhere)) ? allChangeFields : changeFields;
    const condition = toSql(await resolvePaths({ database, registry, owner, holds }, readFilter(filter, fields)));
    const descending = parseOrderBy(orderBy, changeFields)[0]?.descending ?? true;
    const binding = ["Change", owner.kind, owner.kind === "platform" ? "" : owner.id, filter, orderBy, String(view)];
    const read = async (after: Cursor | undefined, limit: number): Promise<ChangeRow[]> => {
      const page = selectChanges({ owner, suspended, condition, descending, after, limit }).compile(database.reads);
      const statement = { text: page.sql, values: page.parameters, isKept: false };
      const [rows = []] = await readInTime(database, [statement], {}, context.timeoutMs);
      return rows as ChangeRow[];
    };
    return listPage(pageTokens, request, binding, read, cursorOf);
  };

  const listChanges = async (request: ListChangesRequest, context: HandlerContext): Promise<ListChangesResponse> => {
    const decide = await authoriserOf(callerOf(context), slicesOf(context));
    const call = { orgId: callerOf(context).orgId, target: undefined, signal: () => context.signal };
    const found = await findOwner(context, decide);
    await recordRead(context, found.owner, found.path);
    const holds = holdsOf(decide);
    const { rows, nextPageToken } = await listQueue.run(call, () => readPage(request, context, found, holds));
    const readable = createReadable(registry, holds);
    const [states, proof] = [request.view !== Change_View.BASIC, request.view === Change_View.PROVED];
    const shown = await Promise.all(
      rows.map(async (row) => ({
        resource: (states || proof) && (await readable.resource(row)),
        origin: await readable.origin(row),
        states,
        proof,
      })),
    );
    const changes: Change[] = [];
    for (const [index, row] of rows.entries()) {
      // Each takes some tenths of a millisecond, with its messages and its proof.
      const slice = slicesOf(context).next();
      if (slice !== undefined) await slice;
      changes.push(toChange(row, shown[index] ?? hidden, loggedMessage));
    }
    return create(ListChangesResponseSchema, { changes, nextPageToken });
  };

  return { listChanges, watchChanges: createWatchChanges(dependencies, findOwner, recordRead) };
}

const everywhere: AnyPath = { pattern: [], references: [] };

const hidden = { resource: false, origin: false, states: false, proof: false };
