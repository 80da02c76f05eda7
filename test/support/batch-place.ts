// Clients of the batch methods of any resource.
import type { Api } from "./api.ts";
import { type Item, type Workplace, type WriteOptions, callMethod, itemsOf } from "./workplace.ts";
import { type WrittenResource, isInParent, isRunByProvider, nameFields } from "./written-resources.ts";

export interface BatchPlace {
  /** Returns an item of a BatchCreate with this name. */
  requestFor(name: string, fields?: object): object;
  create(requests: readonly object[], options?: WriteOptions & { readonly parentPath?: string }): Promise<Item[]>;
  get(paths: readonly string[], parentPath?: string): Promise<Item[]>;
  /** Returns what stays readable; undefined if the method returns nothing. */
  delete(
    paths: readonly string[],
    options?: WriteOptions & { readonly parentPath?: string; readonly etags?: readonly string[] },
  ): Promise<Item[] | undefined>;
  /** The field of a request that holds the resource, as in the proto. */
  readonly field: string;
}

export function batchPlaceOf(resource: WrittenResource, api: Api, place: Workplace): BatchPlace {
  const { nouns, field, parentField } = resource;
  const { org, parent } = place;
  const within = isInParent(resource) ? { parentPath: parent } : {};

  const call = async (verb: string, request: object): Promise<Item[] | undefined> => {
    const method = `Batch${verb}${nouns.many}`;
    return itemsOf(resource, method, await callMethod(resource, api, method, request));
  };

  /** Does what the provider of the items does, if they have one. Returns the paths of the items. */
  const finish = async (operations: readonly Item[], { validateOnly = false }: WriteOptions): Promise<string[]> => {
    if (!validateOnly) for (const operation of operations) await place.finish(operation);
    return (operations as readonly (Item & { readonly resourcePath: string })[]).map(
      ({ resourcePath }) => resourcePath,
    );
  };

  return {
    field: field.name,
    requestFor: (name, fields = {}) => ({
      [field.localName]: {
        ...nameFields(resource, org.path, name),
        ...place.fieldsOf(name),
        ...(parentField !== undefined && { [parentField]: parent }),
        ...fields,
      },
    }),
    async create(requests, options = {}) {
      const answer = (await call("Create", { ...within, requests, ...options })) ?? [];
      if (!isRunByProvider(resource)) return answer;
      const paths = await finish(answer, options);
      return options.validateOnly === true
        ? paths.map((path) => ({ path }) as Item)
        : Promise.all(paths.map((path) => place.get(path)));
    },
    get: async (paths, parentPath) =>
      (await call("Get", { ...within, paths, ...(parentPath !== undefined && { parentPath }) })) ?? [],
    async delete(paths, options = {}) {
      const answer = await call("Delete", { ...within, paths, ...options });
      if (!isRunByProvider(resource)) return answer;
      await finish(answer ?? [], options);
      return undefined;
    },
  };
}
