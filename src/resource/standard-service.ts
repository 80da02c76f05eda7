import { type DescMessage, type DescService, type MessageShape, create } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { patternOf as calledPattern, targetOf, visibleOf } from "../access/call.ts";
import { isSamePattern } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { addBatchHandlers } from "./batch-handlers.ts";
import { createBatchMethods } from "./batch-methods.ts";
import { type AddHandler, type Fields, type Handler, fieldOfType, readWriteRequest } from "./handler.ts";
import type { Transition } from "./lifecycle.ts";
import { required } from "./required.ts";
import { createResourceWriter } from "./resource-writer.ts";
import { type Resource, type ResourceDependencies, type ResourceRow, patternOf } from "./resource.ts";
import { createStandardMethods } from "./standard-methods.ts";
import { createStateMethod } from "./state-methods.ts";

/** Methods that are called after what they make of a resource. */
const stateVerbs: Readonly<Record<string, Transition>> = {
  Undelete: "undelete",
  Suspend: "suspend",
  Activate: "activate",
  Purge: "purge",
};

/**
 * A service whose methods are the standard ones of one resource, but for those that are given.
 *
 * @throws Error when a method has no handler.
 */
export function createStandardService<Service extends DescService, Desc extends DescMessage, Row extends ResourceRow>(
  service: Service,
  dependencies: ResourceDependencies,
  resource: Resource<Desc, Row>,
  others: Partial<ServiceImpl<Service>> = {},
): ServiceImpl<Service> {
  return completeService(service, { ...createStandardHandlers(service, dependencies, resource), ...others });
}

/** @throws Error when a method has no handler. */
export function completeService<Service extends DescService>(
  service: Service,
  handlers: Partial<ServiceImpl<Service>>,
): ServiceImpl<Service> {
  const missing = service.methods.filter(({ localName }) => !Object.hasOwn(handlers, localName));
  if (missing.length > 0) throw new Error(`${service.typeName} has no handler for ${missing[0]?.name}`);
  return handlers as ServiceImpl<Service>;
}

/**
 * The handlers of a resource's standard methods: those of the service whose names are Get, List, Create, Update, Delete,
 * Undelete, Suspend, Activate, Purge, BatchGet, BatchCreate or BatchDelete and the name of the resource. A handler reads
 * the fields of the request that the AIPs name, calls the method, and answers the resource, several of them, or nothing.
 *
 * @throws Error when a method does not have the fields that its name promises.
 */
export function createStandardHandlers<Service extends DescService, Desc extends DescMessage, Row extends ResourceRow>(
  service: Service,
  dependencies: ResourceDependencies,
  resource: Resource<Desc, Row>,
): Partial<ServiceImpl<Service>> {
  const writer = createResourceWriter(dependencies, resource);
  const methods = createStandardMethods(dependencies, resource, writer);
  const pattern = patternOf(resource);
  const parentPattern = pattern.slice(0, -1);
  const handlers: Record<string, Handler> = {};

  /** The path that the call was authorised on; a method on the platform as a whole has none. */
  const parentOf = (context: HandlerContext): readonly Reference[] =>
    parentPattern.length === 0 ? [] : targetOf(context, parentPattern);

  const add: AddHandler = (verb, plural, make) => {
    const method = service.methods.find(({ name }) => name === `${verb}${resource.type}${plural}`);
    if (method !== undefined) handlers[method.localName] = make(method);
  };

  add("Get", "", () => async (_request, context) => resource.toMessage(await methods.get(targetOf(context, pattern))));

  add("List", "s", ({ output }) => {
    const items = fieldOfType(output, resource.schema, "list");
    const counts = output.fields.some(({ name }) => name === "total_size");
    return async (request, context) => {
      const page = request as Fields & Parameters<typeof methods.list>[1];
      const { rows, ...rest } = await methods.list(parentOf(context), page, visibleOf(context), counts);
      return create(output, { [items.localName]: rows.map(resource.toMessage), ...rest });
    };
  });

  add("Create", "", (method) => {
    const { localName } = fieldOfType(method.input, resource.schema, "message");
    return async (request, context) => {
      const message = required(request[localName]) as MessageShape<Desc>;
      return methods.create(parentOf(context), message, readWriteRequest(method, request, context));
    };
  });

  add("Update", "", (method) => {
    const { localName, name } = fieldOfType(method.input, resource.schema, "message");
    return async (request, context) => {
      const patch = required(request[localName]) as MessageShape<Desc> & { readonly etag?: string };
      const update = { patch, mask: request["updateMask"] as FieldMask | undefined, field: name };
      return methods.update(targetOf(context, pattern), update, readWriteRequest(method, request, context));
    };
  });

  add("Delete", "", (method) => (request, context) => {
    const write = readWriteRequest(method, request, context);
    return methods.delete(targetOf(context, pattern), String(request["etag"]), write);
  });

  for (const [verb, transition] of Object.entries(stateVerbs)) {
    const change = createStateMethod(resource, writer, transition);
    add(verb, "", (method) => (request, context) => {
      const write = readWriteRequest(method, request, context);
      return change(targetOf(context, pattern), String(request["etag"]), write);
    });
  }

  addBatchHandlers(add, resource, createBatchMethods(resource, writer), parentOf);

  return handlers as unknown as Partial<ServiceImpl<Service>>;
}

/**
 * The same handlers for a resource that stands in several places: each call goes to the description of the place that it was
 * authorised on.
 *
 * @param places descriptions of the same resource, each with a pattern of its own.
 */
export function createPlacedHandlers<Service extends DescService, Desc extends DescMessage, Row extends ResourceRow>(
  service: Service,
  dependencies: ResourceDependencies,
  places: readonly Resource<Desc, Row>[],
): Partial<ServiceImpl<Service>> {
  const placed = places.map((place) => ({
    pattern: patternOf(place),
    handlers: createStandardHandlers(service, dependencies, place) as unknown as Record<string, Handler>,
  }));
  const handlers: Record<string, Handler> = {};
  for (const localName of Object.keys(placed[0]?.handlers ?? {})) {
    handlers[localName] = (request, context) => {
      const called = calledPattern(context);
      const place = placed.find(
        ({ pattern }) => isSamePattern(called, pattern) || isSamePattern(called, pattern.slice(0, -1)),
      );
      return required(place?.handlers[localName])(request, context);
    };
  }
  return handlers as unknown as Partial<ServiceImpl<Service>>;
}
