// The standard methods (AIP-131 to 135, 158, 164, 216, 231 to 235). This file and the folders beside it implement them once for
// all resources. The definition of a resource describes it; its rules hold the behaviour that only it has.
import { type DescMessage, type DescService, type Message, type MessageShape, create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  patternOf as calledPattern,
  slicesOf,
  callerOf,
  targetOf,
  visibleOf,
  visibleTypesOf,
} from "../access/evaluation/call.ts";
import { notFound } from "../errors/service-error.ts";
import { findRecentHead } from "../identity/recent-orgs.ts";
import type { Caller } from "../identity/caller.ts";
import { formatReferences } from "../paths/format-path.ts";
import { isSamePattern, methodNouns } from "../paths/patterns.ts";
import type { Reference } from "../paths/parse-path.ts";
import { addBatchHandlers } from "./batch/batch-handlers.ts";
import { createBatchMethods } from "./batch/batch-methods.ts";
import {
  type TypedDefinition,
  type ResourcePlace,
  type ResourceRow,
  type ResourceTable,
  endOf,
} from "./definition/definition.ts";
import { type AddHandler, type Handler, fieldOfType, readWriteRequest, resourceField } from "./method-handler.ts";
import type { Transition } from "./definition/lifecycle.ts";
import { createRevalidatingOrgs } from "./read/revalidating-orgs.ts";
import { responseKey } from "./read/response-key.ts";
import type { FreshResponse, ReadResponse } from "./read/revalidated-responses.ts";
import { markReused } from "./read/reused-response.ts";
import { createListMethod } from "./read/list.ts";
import { isOftenWithoutAccess } from "../changes/access-change.ts";
import { required } from "../errors/required.ts";
import type { ResourceDependencies, ResourceRules, ServedResource } from "./rules.ts";
import { type WriteRequest, runWrite } from "./write/write-call.ts";
import { idOf } from "./rows/row-key.ts";
import { checkNew } from "./write/check-new.ts";
import { createAll } from "./write/create.ts";
import { deleteOne } from "./write/delete-one.ts";
import { changeState } from "./write/transition.ts";
import { updateOne } from "./write/update.ts";

/** State transitions by the verb of their method. */
const stateVerbs: Readonly<Record<string, Transition>> = {
  Undelete: "undelete",
  Suspend: "suspend",
  Activate: "activate",
  Purge: "purge",
};

/** The rules of a resource in one of its places. */
export interface PlacedRules<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage> {
  readonly place: ResourcePlace;
  readonly rules: ResourceRules<Table, Row, Desc>;
}

/**
 * Creates a service whose methods are the standard methods of one resource.
 *
 * @throws Error when a method has no handler.
 */
export function createStandardService<
  Service extends DescService,
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
>(
  service: Service,
  dependencies: ResourceDependencies,
  definition: TypedDefinition<Table, Row, Desc>,
  rules: ResourceRules<Table, Row, Desc>,
): ServiceImpl<Service> {
  return completeService(service, createStandardHandlers(service, dependencies, definition, rules));
}

/**
 * Returns the handlers as a complete service.
 *
 * @throws Error when a method has no handler.
 */
export function completeService<Service extends DescService>(
  service: Service,
  handlers: Partial<ServiceImpl<Service>>,
): ServiceImpl<Service> {
  const missing = service.methods.filter(({ localName }) => !Object.hasOwn(handlers, localName));
  if (missing.length > 0) throw new Error(`${service.typeName} has no handler for ${missing[0]?.name}`);
  return handlers as ServiceImpl<Service>;
}

/**
 * Creates the handlers of a resource's standard methods: the methods of the service that are named after the resource with the
 * verb Get, List, Create, Update, Delete, Undelete, Suspend, Activate, Purge, BatchGet, BatchCreate or BatchDelete. A handler
 * reads the standard request fields (as the AIPs name them), calls the method, and returns a resource, a response with several
 * resources, or an empty response.
 *
 * @throws Error when a method lacks the fields that its name requires.
 */
export function createStandardHandlers<
  Service extends DescService,
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
>(
  service: Service,
  dependencies: ResourceDependencies,
  definition: TypedDefinition<Table, Row, Desc>,
  rules: ResourceRules<Table, Row, Desc>,
): Partial<ServiceImpl<Service>> {
  const [place] = definition.places;
  return createPlacedHandlers(service, dependencies, definition, [{ place, rules }]);
}

/**
 * Creates the handlers of a resource that has several places. Each call uses the rules of the place that it was authorised on.
 */
export function createPlacedHandlers<
  Service extends DescService,
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
>(
  service: Service,
  dependencies: ResourceDependencies,
  definition: TypedDefinition<Table, Row, Desc>,
  places: readonly PlacedRules<Table, Row, Desc>[],
): Partial<ServiceImpl<Service>> {
  const placed = places.map((each) => ({
    pattern: each.place.pattern,
    handlers: placedHandlers(service, dependencies, definition, each),
  }));
  const handlers: Record<string, Handler> = {};
  for (const localName of Object.keys(placed[0]?.handlers ?? {})) {
    handlers[localName] = (request, context) => {
      const called = calledPattern(context);
      const at =
        placed.length === 1
          ? placed[0]
          : placed.find(({ pattern }) => isSamePattern(called, pattern) || isSamePattern(called, pattern.slice(0, -1)));
      return required(at?.handlers[localName])(request, context);
    };
  }
  return handlers as unknown as Partial<ServiceImpl<Service>>;
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

/** Returns a write that may share a transaction with others of its org, if `isShared`. */
function shareIf(isShared: boolean, write: WriteRequest): WriteRequest {
  return isShared && write.org !== undefined ? { ...write, shared: { org: write.org } } : write;
}

const isOwn = ({ orgId }: Caller, org: Reference): boolean => org.by === "id" && org.value === orgId;

function placedHandlers<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  service: DescService,
  dependencies: ResourceDependencies,
  definition: TypedDefinition<Table, Row, Desc>,
  { place, rules }: PlacedRules<Table, Row, Desc>,
): Record<string, Handler> {
  const reader = dependencies.readers.readerOf(definition, place);
  const served: ServedResource<Table, Row, Desc> = { definition, place, rules, reader, dependencies };
  const { schema, label } = definition;
  const nouns = methodNouns(definition.type);
  const { pattern } = place;
  const parentPattern = pattern.slice(0, -1);
  const revalidatingOrgs = createRevalidatingOrgs(definition, place, dependencies.installation.systemOrgId);
  const handlers: Record<string, Handler> = {};
  // What changes access, or may take long, does not share a transaction.
  const isShared = isOftenWithoutAccess(definition.type) && rules.scope.kind === "parent";

  /** Returns the path that the call was authorised on. It is empty for a method on the platform as a whole. */
  const parentOf = (context: HandlerContext): readonly Reference[] =>
    parentPattern.length === 0 ? [] : targetOf(context, parentPattern);

  /** Makes the next call of a client read the heads of a row's orgs together with its key, so that a response can be reused. */
  const rememberOrgs = (caller: Caller, row: Row, orgs: readonly Reference[] = []): void => {
    const ids = new Set(orgs.flatMap((org) => (org.by === "id" ? [org.value] : [])));
    const ofRow = (row as Row & { readonly org_id?: string }).org_id;
    if (ofRow !== undefined) ids.add(ofRow);
    else if (definition.type === "Org") ids.add(idOf(definition, row));
    for (const id of ids) if (id !== caller.orgId) dependencies.recentOrgs.add(caller.clientId, id);
  };

  const add: AddHandler = (verb, noun, make) => {
    const method = service.methods.find(({ name }) => name === `${verb}${nouns[noun]}`);
    if (method !== undefined) handlers[method.localName] = make(method);
  };

  add("Get", "one", () => async (_request, context) => {
    const path = targetOf(context, pattern);
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
  });

  add("List", "many", ({ output }) => {
    const items = fieldOfType(output, schema, "list");
    const counts = output.fields.some(({ name }) => name === "total_size");
    const list = createListMethod(served, counts);
    return async (request, context) => {
      const shown = { visible: visibleOf(context), rows: rules.visible?.(context) };
      const caller = callerOf(context);
      const parent = parentOf(context);
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
  });

  add("Create", "one", (method) => {
    if (rules.creation.kind === "with another")
      throw new Error(`${method.name}: the rules have no creation of a ${label.one} on its own`);
    const field = resourceField(method.input, schema);
    return async (request, context) => {
      const message = field.read(request);
      const write = shareIf(isShared, readWriteRequest(method, request, context));
      const parent = parentOf(context);
      const checked = await checkNew(served, [message], write.slices);
      return runWrite(
        dependencies,
        write,
        async (call) => {
          const [row] = await createAll(served, call, { parents: [parent], messages: [message], checked });
          return definition.toMessage(required(row));
        },
        definition.withoutSecrets,
      );
    };
  });

  add("Update", "one", (method) => {
    const { name, read } = resourceField(method.input, schema);
    return async (request, context) => {
      const update = { patch: read(request), mask: request.updateMask, field: name };
      const path = targetOf(context, pattern);
      const write = shareIf(isShared, readWriteRequest(method, request, context));
      return runWrite(
        dependencies,
        write,
        async (call) => definition.toMessage(await updateOne(served, call, path, update)),
        definition.withoutSecrets,
      );
    };
  });

  add("Delete", "one", (method) => async (request, context) => {
    const path = targetOf(context, pattern);
    const write = readWriteRequest(method, request, context);
    return runWrite(dependencies, write, async (call) => {
      const row = await deleteOne(served, call, path, request.etag);
      return row === null ? create(method.output) : definition.toMessage(row);
    });
  });

  for (const [verb, transition] of Object.entries(stateVerbs)) {
    add(verb, "one", (method) => async (request, context) => {
      const path = targetOf(context, pattern);
      const write = readWriteRequest(method, request, context);
      return runWrite(dependencies, write, async (call) =>
        definition.toMessage(await changeState(served, call, path, request.etag, transition)),
      );
    });
  }

  addBatchHandlers(add, schema, createBatchMethods(served), parentOf);
  return handlers;
}
