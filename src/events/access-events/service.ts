import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { sql } from "kysely";
import {
  type AccessEventsService,
  type ListAccessEventsRequest,
  type ListAccessEventsResponse,
  ListAccessEventsResponseSchema,
} from "../../../gen/iam/v1alpha/access_event_pb.ts";
import { callerOf, slicesOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { notFound } from "../../errors/service-error.ts";
import type { Operand } from "../../filters/condition.ts";
import { parseOrderBy } from "../../filters/parse-order-by.ts";
import { readFilter } from "../../filters/read-filter.ts";
import { toSql } from "../../filters/to-sql.ts";
import { orgDefinition } from "../../iam/orgs/definition.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import type { ProviderDependencies } from "../../resources/provider-dependencies.ts";
import { listPage } from "../../standard-methods/read/list-page.ts";
import type { Cursor } from "../../standard-methods/read/page-token.ts";
import { readInTime } from "../../standard-methods/read/read-in-time.ts";
import { holdsOf } from "../changes/find-owner.ts";
import { createReadable } from "../changes/readable-entries.ts";
import { type PathField, findMemberId, never, replacePaths } from "../changes/resolve-paths.ts";
import { accessEventFields, callerPath } from "./fields.ts";
import { toAccessEvent } from "./message.ts";
import { type AccessEventRow, cursorOf, selectAccessEvents } from "./store.ts";

export function createAccessEventsService(dependencies: ProviderDependencies): ServiceImpl<typeof AccessEventsService> {
  const { database, registry, readers, pageTokens, listQueue, authoriserOf } = dependencies;
  const orgs = readers.readerOf(orgDefinition, orgDefinition.places[0]);

  const readPage = async (request: ListAccessEventsRequest, context: HandlerContext, orgId: string, holds: Holds) => {
    const { filter, orderBy } = request;
    const caller = pathOfCaller((text) =>
      findMemberId({ database, registry, owner: { kind: "org", id: orgId }, holds }, text),
    );
    const resolved = await replacePaths(readFilter(filter, accessEventFields), new Map([[callerPath, caller]]));
    const condition = toSql(resolved);
    const descending = parseOrderBy(orderBy, accessEventFields)[0]?.descending ?? true;
    const read = async (after: Cursor | undefined, limit: number): Promise<AccessEventRow[]> => {
      const page = selectAccessEvents({ orgId, condition, descending, after, limit }).compile(database.reads);
      const statement = { text: page.sql, values: page.parameters, isKept: false };
      const [rows = []] = await readInTime(database, [statement], {}, context.timeoutMs);
      return rows as AccessEventRow[];
    };
    return listPage(pageTokens, request, ["AccessEvent", orgId, filter, orderBy], read, cursorOf);
  };

  const listAccessEvents = async (
    request: ListAccessEventsRequest,
    context: HandlerContext,
  ): Promise<ListAccessEventsResponse> => {
    const path = targetOf(context, patterns.Org);
    const org = await orgs.lookup(path, visibleOf(context));
    if (org === undefined) throw notFound("org", formatReferences(patterns.Org, path));
    const holds = holdsOf(await authoriserOf(callerOf(context), slicesOf(context)));
    const call = { orgId: callerOf(context).orgId, target: undefined, signal: () => context.signal };
    const { rows, nextPageToken } = await listQueue.run(call, () => readPage(request, context, org.id, holds));
    const { origin } = createReadable(registry, holds);
    const accessEvents = [];
    for (const row of rows) accessEvents.push(toAccessEvent(row, await origin(row)));
    return create(ListAccessEventsResponseSchema, { accessEvents, nextPageToken });
  };

  return { listAccessEvents };
}

const actor: Operand = { kind: "scalar", type: "uuid", value: sql.ref("access_events.actor_id") };

/** @param find returns the id of a member. */
function pathOfCaller(find: (text: string) => Promise<string | undefined>): PathField {
  return {
    present: { kind: "present", operand: actor },
    async match(text) {
      const value = await find(text);
      return value === undefined ? never : { kind: "compare", operand: actor, comparator: "=", value };
    },
  };
}
