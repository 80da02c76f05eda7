// The standard methods (AIP-131 to 135, 158, 164, 216, 231 to 235). This file and the folders beside it implement them once for
// all resources. The definition of a resource describes it; its rules hold the behaviour that only it has.
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { patternOf as calledPattern, targetOf } from "../access/evaluation/call.ts";
import { required } from "../errors/required.ts";
import { isSamePattern, methodNouns } from "../paths/patterns.ts";
import type { Reference } from "../paths/parse-path.ts";
import { addBatchHandlers } from "./batch/batch-handlers.ts";
import { createBatchMethods } from "./batch/batch-methods.ts";
import type { ResourcePlace, ResourceRow, ResourceTable, TypedDefinition } from "./definition/definition.ts";
import type { AddHandler, Handler } from "./method-handler.ts";
import { addReadHandlers } from "./read/read-handlers.ts";
import type { ResourceDependencies, ResourceRules, ServedResource } from "./rules.ts";
import { addWriteHandlers } from "./write/write-handlers.ts";

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

/** Creates the handlers of a resource in one of its places. */
function placedHandlers<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  service: DescService,
  dependencies: ResourceDependencies,
  definition: TypedDefinition<Table, Row, Desc>,
  { place, rules }: PlacedRules<Table, Row, Desc>,
): Record<string, Handler> {
  const reader = dependencies.readers.readerOf(definition, place);
  const served: ServedResource<Table, Row, Desc> = { definition, place, rules, reader, dependencies };
  const nouns = methodNouns(definition.type);
  const parentPattern = place.pattern.slice(0, -1);
  const handlers: Record<string, Handler> = {};

  /** Returns the path that the call was authorised on. It is empty for a method on the platform as a whole. */
  const parentOf = (context: HandlerContext): readonly Reference[] =>
    parentPattern.length === 0 ? [] : targetOf(context, parentPattern);

  const add: AddHandler = (verb, noun, make) => {
    const method = service.methods.find(({ name }) => name === `${verb}${nouns[noun]}`);
    if (method !== undefined) handlers[method.localName] = make(method);
  };

  addReadHandlers(add, served, parentOf);
  addWriteHandlers(add, served, parentOf);
  addBatchHandlers(add, definition.schema, createBatchMethods(served), parentOf);
  return handlers;
}
