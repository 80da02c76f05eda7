// The batch methods of any resource of the table, called as its other methods are.
import type { Api } from "./api.ts";
import { type Item, type Workplace, type WriteOptions, type WrittenResource, nameFields } from "./written-resources.ts";

export interface BatchPlace {
  /** What a BatchCreate takes for an item with this name. */
  requestFor(name: string, fields?: object): object;
  create(requests: readonly object[], options?: WriteOptions & { readonly parentPath?: string }): Promise<Item[]>;
  get(paths: readonly string[], parentPath?: string): Promise<Item[]>;
  /** Answers what stays readable; undefined where the method answers nothing. */
  delete(
    paths: readonly string[],
    options?: WriteOptions & { readonly parentPath?: string },
  ): Promise<Item[] | undefined>;
  /** The field of a request that holds the resource, as protos spell it. */
  readonly field: string;
}

export function batchPlaceOf(resource: WrittenResource, api: Api, { org, parent }: Workplace): BatchPlace {
  const { type, service } = resource;
  const client = api[resource.client] as unknown as Record<string, (request: object) => Promise<object>>;
  const isAlone = type === "Org" || type === "Customer";
  const within = isAlone ? {} : { parentPath: parent };
  const localName = type.charAt(0).toLowerCase() + type.slice(1);

  const call = async (verb: string, request: object): Promise<Item[] | undefined> => {
    const method = service.methods.find(({ name }) => name === `Batch${verb}${type}s`);
    if (method === undefined) throw new Error(`there is no Batch${verb} of ${type}`);
    const answer = (await client[method.localName]?.(request)) as Record<string, Item[]>;
    const items = method.output.fields.find(({ fieldKind }) => fieldKind === "list");
    return items && answer[items.localName];
  };

  return {
    field: localName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    requestFor: (name, fields = {}) => ({
      [localName]: {
        ...nameFields(resource, org.path, name),
        ...resource.fieldsIn?.(org.path),
        ...(type === "Org" && { customerPath: parent }),
        ...fields,
      },
    }),
    create: async (requests, options = {}) => (await call("Create", { ...within, requests, ...options })) ?? [],
    get: async (paths, parentPath) =>
      (await call("Get", { ...within, paths, ...(parentPath !== undefined && { parentPath }) })) ?? [],
    delete: (paths, options = {}) => call("Delete", { ...within, paths, ...options }),
  };
}
