// A parent for items of any resource, and the calls that write there.
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import { QuantityKindsService } from "../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { required } from "../../src/errors/required.ts";
import { type Api, uniqueName } from "./api.ts";
import { type ProvidedType, carryOut, createProvidedType } from "./provided-type.ts";
import { isInCatalog } from "./service-catalog.ts";
import {
  type StateVerb,
  type WrittenResource,
  isInParent,
  isRunByProvider,
  nameFields,
  writtenResource,
} from "./written-resources.ts";

/** The fields that all resources have. */
export interface Item extends Message {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly description?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly secret?: string;
  readonly state?: number;
  readonly createTime?: unknown;
  readonly updateTime?: unknown;
}

/** The fields that all writes have, and some more. */
export interface WriteOptions {
  readonly validateOnly?: boolean;
  readonly requestId?: string;
  readonly allowMissing?: boolean;
  /** Of a Delete; an Update has it among its fields. */
  readonly etag?: string;
  readonly updateMask?: { readonly paths: string[] };
}

/** The fields that all lists have. */
export interface Query {
  readonly parentPath?: string;
  readonly filter?: string;
  readonly orderBy?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly showDeleted?: boolean;
}

interface Page {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
  readonly totalSize?: number;
}

/** The org of the parent. */
interface Surroundings {
  readonly path: string;
  readonly customerPath: string;
}

/** A parent for items of one resource, in its own org and customer, and the calls that write there. */
export interface Workplace {
  readonly org: Surroundings;
  readonly parent: string;
  /** The fields that a new item needs besides its name. */
  fieldsOf(name: string): object;
  /** Carries out an Operation as the provider of the item, if it has one. Returns whether it has. */
  finish(operation: Item): Promise<boolean>;
  /** The first part of the parent's path, an org or a service: by name, and by id. */
  top(): Promise<{ readonly path: string; readonly byId: string }>;
  /** The org whose change log has the writes. */
  readonly logOf: string;
  pathOf(name: string): string;
  /** Creates what an item with this name requires. */
  makeWay(name: string): Promise<void>;
  /** Creates an item, for which everything required must exist. A provider's part in it is done, too. */
  create(name: string, options?: WriteOptions, fields?: object, parent?: string): Promise<Item>;
  /** Calls Create alone, and returns its answer: the item, or an Operation that its provider can carry out. */
  startCreate(name: string, options?: WriteOptions, fields?: object, parent?: string): Promise<Item>;
  get(path: string): Promise<Item>;
  /** Lists the items in the parent, or all items if there is no parent. */
  list(query?: Query): Promise<Page>;
  update(path: string, fields: object, options?: WriteOptions): Promise<Item>;
  delete(path: string, options?: WriteOptions): Promise<Item>;
  /** Calls Delete alone, and returns its answer. */
  startDelete(path: string, options?: WriteOptions): Promise<Item>;
  change(verb: StateVerb, path: string, options?: WriteOptions): Promise<Item>;
  /** The same place for another client. */
  as(other: Api): Workplace;
}

/**
 * @param org the org of the place; by default, a new one.
 * @param parent the parent of the items; by default, a new one.
 */
export async function openWorkplace(
  resource: WrittenResource,
  api: Api,
  org?: Surroundings,
  parent?: string,
): Promise<Workplace> {
  const within = org ?? (await api.orgs.createOrg({ org: { name: uniqueName("acme") } }));
  for (const [type, name] of Object.entries(resource.before ?? {})) {
    const place = workplaceOf(writtenResource(type as WrittenResource["type"]), api, within, within.path);
    await place.update(place.pathOf(name), place.fieldsOf(name), { allowMissing: true });
  }
  if (resource.limits !== undefined) await limit(within.path, resource.limits, api);
  const provided = isRunByProvider(resource) ? await createProvidedType(api) : undefined;
  return workplaceOf(resource, api, within, parent ?? (await makeParent(resource, api, within)), provided);
}

/** Sets limits of an org, of kinds that may not exist yet. */
async function limit(parentPath: string, limits: Readonly<Record<string, number>>, { transport }: Api): Promise<void> {
  for (const name of Object.keys(limits)) {
    await createClient(QuantityKindsService, transport)
      .createQuantityKind({ quantityKind: { name, unit: "piece" } })
      .catch((error: unknown) => {
        if (ConnectError.from(error).code !== Code.AlreadyExists) throw error;
      });
  }
  await createClient(QuotasService, transport).updateQuota({ parentPath, quota: { limits } });
}

/** Creates the parent of items of a resource, with its own parents. Returns its path. */
async function makeParent({ place, parentField }: WrittenResource, api: Api, org: Surroundings): Promise<string> {
  const parent = place.parents.at(-1);
  if (parent === undefined) return parentField === undefined ? "" : org.customerPath;
  if (parent.type === "Customer") return org.customerPath;
  if (parent.type === "Org") return org.path;
  const around = await openWorkplace(writtenResource(parent.type), api, org);
  const name = uniqueName("holder");
  await around.makeWay(name);
  return (await around.create(name)).path;
}

function workplaceOf(
  resource: WrittenResource,
  api: Api,
  org: Surroundings,
  parent: string,
  provided?: ProvidedType,
): Workplace {
  const { nouns, collection, createdWith, parentField, standsFor } = resource;
  const field = resource.field.localName;
  const call = async (verb: string, request: object): Promise<Item> =>
    (await callMethod(resource, api, `${verb}${nouns.one}`, request)) as Item;
  const pathOf = (name: string): string => `${isInParent(resource) ? parent : ""}/${collection}/${name}`;
  const fieldsOf = (name: string): object =>
    provided === undefined ? (resource.fieldsIn?.(org.path, name) ?? {}) : { typePath: provided.typePath };
  /** Does what the provider of a resource does, if it has one. Returns whether there was an Operation to carry out. */
  const finish = async ({ path }: Item, { validateOnly = false }: WriteOptions = {}): Promise<boolean> => {
    if (provided === undefined || validateOnly) return false;
    await carryOut(api, provided.servicePath, path);
    return true;
  };

  const startCreate: Workplace["startCreate"] = async (name, options = {}, fields = {}, parentPath = parent) => {
    if (createdWith !== undefined) {
      const other = writtenResource(createdWith);
      await callMethod(other, api, `Create${other.nouns.one}`, { [other.field.localName]: { name } });
      return call("Get", { path: pathOf(name) });
    }
    const [inRequest, inItem] = parentField === undefined ? [{ parentPath }, {}] : [{}, { [parentField]: parentPath }];
    return call("Create", {
      ...inRequest,
      [field]: { ...nameFields(resource, org.path, name), ...fieldsOf(name), ...inItem, ...fields },
      ...options,
    });
  };
  const startDelete: Workplace["startDelete"] = (path, options = {}) => call("Delete", { path, ...options });

  return {
    org,
    parent,
    fieldsOf,
    finish,
    async top() {
      const path = parent.split("/").slice(0, 3).join("/");
      const { id } = await workplaceOf(topOf(resource), api, org, "").get(path);
      return { path, byId: path.replace(/[^/]+$/, `@${id}`) };
    },
    logOf: isInCatalog(resource.definition) ? "/orgs/system" : org.path,
    pathOf,
    async makeWay(name) {
      if (standsFor === undefined) return;
      const other = writtenResource(standsFor.type);
      await workplaceOf(other, api, org, org.path).create(name);
    },
    startCreate,
    async create(name, options = {}, ...rest) {
      const answer = await startCreate(name, options, ...rest);
      return (await finish(answer, options)) ? call("Get", { path: pathOf(name) }) : answer;
    },
    get: (path) => call("Get", { path }),
    async list(query = {}) {
      const method = `List${nouns.many}`;
      const within = isInParent(resource) ? { parentPath: parent } : {};
      const answer = await callMethod(resource, api, method, { pageSize: 1000, ...within, ...query });
      return { ...(answer as Page & Message), items: required(itemsOf(resource, method, answer)) };
    },
    update(path, fields, options = {}) {
      const must = options.allowMissing === true ? fieldsOf(path.slice(path.lastIndexOf("/") + 1)) : {};
      return call("Update", { path, [field]: { ...must, ...fields }, ...options });
    },
    startDelete,
    async delete(path, options = {}) {
      const answer = await startDelete(path, options);
      await finish(answer, options);
      return answer;
    },
    change: (verb, path, options = {}) => call(verb, { path, ...options }),
    as: (other) => workplaceOf(resource, other, org, parent, provided),
  };
}

/** Returns the first resource in the path. */
const topOf = ({ place }: WrittenResource): WrittenResource => writtenResource(required(place.parents[0]).type);

/** Calls a method of a resource's service by its name. */
export async function callMethod(
  { service }: WrittenResource,
  { transport }: Api,
  name: string,
  request: object,
): Promise<object> {
  const method = service.methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`there is no ${name}`);
  const client = createClient(service, transport) as unknown as Record<string, (input: object) => Promise<object>>;
  return required(client[method.localName])(request);
}

/** Returns the items in a response; undefined if the method returns none. */
export function itemsOf({ service }: WrittenResource, name: string, answer: object): Item[] | undefined {
  const method = service.methods.find((each) => each.name === name);
  const items = method?.output.fields.find(({ fieldKind }) => fieldKind === "list");
  return items && (answer as Record<string, Item[]>)[items.localName];
}
