import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
  type MessageShape,
  create,
} from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { authorOf, callerOf, targetOf } from "../access/call.ts";
import { type PathPattern, patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { required } from "./required.ts";
import { type WriteRequest, fingerprintOf } from "./write-request.ts";
import {
  type Resource,
  type ResourceDependencies,
  type ResourceRow,
  createStandardMethods,
} from "./standard-methods.ts";

/** A message's fields by local name. */
type Fields = Readonly<Record<string, unknown>>;

type Handler = (request: Fields, context: HandlerContext) => Promise<Message>;

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
 * The handlers of a resource's standard methods: those of the service whose names are Get, List, Create, Update or Delete
 * and the name of the resource. A handler reads the fields of the request that the AIPs name, calls the method, and
 * answers the resource, a page of resources, or nothing.
 *
 * @throws Error when a method does not have the fields that its name promises.
 */
export function createStandardHandlers<Service extends DescService, Desc extends DescMessage, Row extends ResourceRow>(
  service: Service,
  dependencies: ResourceDependencies,
  resource: Resource<Desc, Row>,
): Partial<ServiceImpl<Service>> {
  const methods = createStandardMethods(dependencies, resource);
  const pattern: PathPattern = patterns[resource.type];
  const parentPattern = pattern.slice(0, -1);
  const handlers: Record<string, Handler> = {};

  /** The path that the call was authorised on; a method on the platform as a whole has none. */
  const parentOf = (context: HandlerContext): readonly Reference[] =>
    parentPattern.length === 0 ? [] : targetOf(context, parentPattern);

  function add(verb: string, plural: "" | "s", make: (method: DescMethod) => Handler): void {
    const method = service.methods.find(({ name }) => name === `${verb}${resource.type}${plural}`);
    if (method !== undefined) handlers[method.localName] = make(method);
  }

  add("Get", "", () => async (_request, context) => resource.toMessage(await methods.get(targetOf(context, pattern))));

  add("List", "s", ({ output }) => {
    const items = fieldOfType(output, resource.schema, "list");
    return async (request, context) => {
      const page = request as Fields & Parameters<typeof methods.list>[1];
      const { rows, nextPageToken } = await methods.list(parentOf(context), page);
      return create(output, { [items.localName]: rows.map(resource.toMessage), nextPageToken });
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

  return handlers as unknown as Partial<ServiceImpl<Service>>;
}

/** What the fields that all writes share say. */
export function readWriteRequest<Answer extends DescMessage>(
  method: DescMethod & { readonly output: Answer },
  request: object,
  context: HandlerContext,
): WriteRequest<Answer> {
  const { requestId, validateOnly, allowMissing } = request as Fields;
  const author = authorOf(context);
  return {
    author,
    caller: callerOf(context),
    requestId: String(requestId).toLowerCase(),
    validateOnly: validateOnly === true,
    allowMissing: allowMissing === true,
    answer: method.output,
    fingerprint: () => fingerprintOf(author.method, request as Message),
  };
}

function fieldOfType(desc: DescMessage, type: DescMessage, kind: "list" | "message"): DescField {
  const field = desc.fields.find((candidate) => candidate.fieldKind === kind && candidate.message === type);
  if (field === undefined) throw new Error(`${desc.typeName} has no field for ${type.typeName}`);
  return field;
}
