// Handlers of Get and List (AIP-131, 132). A response that the database revalidates is the one that was sent before.
import { type DescMessage, type Message, type MessageShape, create } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { callerOf, slicesOf, targetOf, visibleOf, visibleTypesOf } from "../../access/evaluation/call.ts";
import { required } from "../../errors/required.ts";
import { notFound } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import { findRecentHead } from "../../identity/recent-orgs.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { type ResourceRow, type ResourceTable, endOf } from "../definition/definition.ts";
import { type AddHandler, type Handler, fieldOfType } from "../method-handler.ts";
import { idOf } from "../rows/row-key.ts";
import type { ResourceRules, ServedResource } from "../rules.ts";
import { readAsked, toPastMessage } from "../past/past-fields.ts";
import { createListMethod } from "./list.ts";
import { responseKey } from "./response-key.ts";
import type { FreshResponse, ReadResponse } from "./revalidated-responses.ts";
import { createRevalidatingOrgs } from "./revalidating-orgs.ts";
import { markReused } from "./reused-response.ts";

type ParentOf = (context: HandlerContext) => readonly Reference[];

export function addReadHandlers<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  add: AddHandler,
  served: ServedResource<Table, Row, Desc>,
  parentOf: ParentOf,
): void {
  const { definition, place, dependencies } = served;
  const revalidatingOrgs = createRevalidatingOrgs(definition, place, dependencies.installation.systemOrgId);
  add("Get", "one", () => getHandler(served, revalidatingOrgs));
  add("List", "many", ({ output }) => listHandler(served, revalidatingOrgs, parentOf, output));
}

type RevalidatingOrgs = ReturnType<typeof createRevalidatingOrgs>;

function getHandler<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  { definition, place, rules, reader, dependencies }: ServedResource<Table, Row, Desc>,
  revalidatingOrgs: RevalidatingOrgs,
): Handler {
  const { label } = definition;
  const { pattern } = place;

  /** Makes the next call of a client read the heads of a row's orgs together with its key, so that a response can be reused. */
  const rememberOrgs = (caller: Caller, row: Row, orgs: readonly Reference[] = []): void => {
    const ids = new Set(orgs.flatMap((org) => (org.by === "id" ? [org.value] : [])));
    const ofRow: unknown = "org_id" in row ? row.org_id : undefined;
    if (typeof ofRow === "string") ids.add(ofRow);
    else if (definition.type === "Org") ids.add(idOf(definition, row));
    for (const id of ids) if (id !== caller.orgId) dependencies.recentOrgs.add(caller.clientId, id);
  };

  return async (request, context) => {
    const path = targetOf(context, pattern);
    const asked = readAsked(request, place, path);
    if (asked !== undefined) {
      return toPastMessage(definition, await dependencies.pastReads.get({ definition, place, path, asked }, context));
    }
    const visible = visibleOf(context);
    const caller = callerOf(context);
    const orgs = rules.show === undefined ? revalidatingOrgs(path) : undefined;
    const read = async (): Promise<FreshResponse<Message>> => {
      const row = await reader.lookup(path, visible);
      if (row === undefined) throw notFound(label.one, formatReferences(pattern, path));
      rememberOrgs(caller, row, orgs);
      const [message] = await showRows(rules, context, [row], [definition.toMessage(row)]);
      return { message: required(message), isReused: !isDeleted(row), endsAt: endOf(definition, row) };
    };
    // To read the revision of an org that was not read with the caller would cost as much as the Get.
    const isKnown = (org: Reference): boolean => isOwn(caller, org) || findRecentHead(caller, org) !== undefined;
    if (orgs?.every(isKnown) !== true) return (await read()).message;
    // The types for which the call was authorised say which resource the path led to.
    const types = visibleTypesOf(context)?.join(" ") ?? "";
    const key = responseKey("Get", pattern, path, visible, types);
    return respond(context, await dependencies.revalidatedResponses.respond({ orgs, key, caller }, read));
  };
}

function listHandler<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  revalidatingOrgs: RevalidatingOrgs,
  parentOf: ParentOf,
  output: DescMessage,
): Handler {
  const { definition, place, rules, dependencies } = served;
  const { schema } = definition;
  const { pattern } = place;
  const items = fieldOfType(output, schema, "list");
  const counts = output.fields.some(({ name }) => name === "total_size");
  const list = createListMethod(served, counts);
  return async (request, context) => {
    const shown = { visible: visibleOf(context), rows: await rules.visible?.(context) };
    const caller = callerOf(context);
    const parent = parentOf(context);
    const asked = readAsked(request, place, parent);
    if (asked !== undefined) {
      const of = { definition, place, path: parent, asked };
      const { rows, ...rest } = await dependencies.pastReads.list(of, request, context);
      await slicesOf(context).next();
      return create(output, { [items.localName]: rows.map((row) => toPastMessage(definition, row)), ...rest });
    }
    const read = async (): Promise<FreshResponse<Message>> => {
      const call = { orgId: caller.orgId, target: undefined, signal: () => context.signal };
      const { rows, endsAt, ...rest } = await dependencies.listQueue.run(call, () =>
        list(parent, request, shown, context.timeoutMs),
      );
      // A page of 1,000 is long to convert and to write.
      await slicesOf(context).next();
      const messages = await showRows(
        rules,
        context,
        rows,
        rows.map((row) => definition.toMessage(row)),
      );
      return { message: create(output, { [items.localName]: messages, ...rest }), isReused: true, endsAt };
    };
    const { pageSize, pageToken, filter, orderBy, showDeleted = false } = request;
    // The purge removes deleted resources without a revision.
    const isSame = shown.rows === undefined && rules.show === undefined && !showDeleted;
    const orgs = isSame ? revalidatingOrgs(parent) : undefined;
    if (orgs === undefined) return (await read()).message;
    const parameters = JSON.stringify([pageSize, pageToken, filter, orderBy]);
    const key = responseKey("List", pattern, parent, shown.visible, parameters);
    return respond(context, await dependencies.revalidatedResponses.respond({ orgs, key, caller }, read));
  };
}

/** Returns the messages of rows that were read, as the caller may see them. */
async function showRows<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  rules: ResourceRules<Table, Row, Desc>,
  context: HandlerContext,
  rows: readonly Row[],
  messages: readonly MessageShape<Desc>[],
): Promise<readonly MessageShape<Desc>[]> {
  return (await rules.show?.(context, rows, messages)) ?? messages;
}

/** Whether a row is deleted. The purge removes it without a revision, so no revision revalidates a response with it. */
const isDeleted = (row: object): boolean => "delete_time" in row && row.delete_time !== null;

/** Returns the message of a response to a call. One that is reused need not be encoded for each call. */
function respond(context: HandlerContext, { message, isReused }: ReadResponse<Message>): Message {
  if (isReused) markReused(message, context);
  return message;
}

const isOwn = ({ orgId }: Caller, org: Reference): boolean => org.by === "id" && org.value === orgId;
