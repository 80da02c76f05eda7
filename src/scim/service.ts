// Implements SCIM 2.0. What a directory changes are members and groups, by calls of their methods in process.
import { create } from "@bufbuild/protobuf";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type HttpBody, HttpBodySchema } from "../../gen/google/api/httpbody_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import {
  createGroup,
  deleteGroup,
  findChangedGroup,
  getGroup,
  listGroups,
  patchGroup,
  replaceGroup,
} from "./groups.ts";
import { type Given, readObject, toBody } from "./json.ts";
import { type ScimCalls, type ScimDependencies, createScimCalls } from "./scim-calls.ts";
import type { Scene, WriteScene } from "./scene.ts";
import { describeService, findSchema, findType, listOf, listSchemas, listTypes, maxPage } from "./schemas.ts";
import { type Selection, isSelected, select } from "./selection.ts";
import { createUser, deleteUser, getUser, listUsers, patchUser, replaceUser } from "./users.ts";

/** What a kind of resources does. */
interface Kind {
  readonly collection: "Users" | "Groups";
  readonly get: (scene: Scene, id: string, selection: Selection) => Promise<object>;
  /** Returns one that was changed; undefined if it is too large for a response. */
  readonly findChanged: (scene: Scene, id: string, selection: Selection) => Promise<object | undefined>;
  readonly list: (
    scene: Scene,
    filter: string,
    page: { readonly offset: number; readonly limit: number },
    selection: Selection,
  ) => Promise<{ readonly total: number; readonly resources: readonly object[] }>;
  /** Reads the body, before any lock. The function that it returns returns the id. */
  readonly create: (body: Given) => (scene: WriteScene) => Promise<string>;
  readonly remove: (scene: WriteScene, id: string) => Promise<void>;
}

const users: Kind = {
  collection: "Users",
  get: getUser,
  findChanged: getUser,
  list: listUsers,
  create: createUser,
  remove: deleteUser,
};

const groups: Kind = {
  collection: "Groups",
  get: (scene, id, selection) => getGroup(scene, id, isSelected(selection, "members")),
  findChanged: (scene, id, selection) => findChangedGroup(scene, id, isSelected(selection, "members")),
  list: (scene, filter, page, selection) => listGroups(scene, filter, page, isSelected(selection, "members")),
  create: createGroup,
  remove: deleteGroup,
};

/** Reads the body, before any lock. */
type Change = (body: Given) => (scene: WriteScene, id: string) => Promise<void>;

interface ListFields extends Selection {
  readonly filter: string;
  readonly startIndex?: number | undefined;
  readonly count?: number | undefined;
}

interface WriteFields extends Message, Selection {
  readonly body?: HttpBody | undefined;
}

const { method } = ScimService;

export function createScimService(dependencies: ScimDependencies): ServiceImpl<typeof ScimService> {
  const calls = createScimCalls(dependencies);
  const { baseOf } = calls;
  const [ofUsers, ofGroups] = [handlersOf(calls, users), handlersOf(calls, groups)];
  return {
    getServiceProviderConfig: async (_request, context) => toBody(describeService(baseOf(context))),
    listResourceTypes: async (_request, context) => toBody(listTypes(baseOf(context))),
    getResourceType: async ({ id }, context) => toBody(findType(baseOf(context), id)),
    listSchemas: async (_request, context) => toBody(listSchemas(baseOf(context))),
    getSchema: async ({ id }, context) => toBody(findSchema(baseOf(context), id)),

    listUsers: ofUsers.list,
    getUser: ofUsers.get,
    createUser: ofUsers.create(method.createUser),
    replaceUser: ofUsers.change(method.replaceUser, replaceUser),
    patchUser: ofUsers.change(method.patchUser, patchUser),
    deleteUser: ofUsers.remove(method.deleteUser),

    listGroups: ofGroups.list,
    getGroup: ofGroups.get,
    createGroup: ofGroups.create(method.createGroup),
    replaceGroup: ofGroups.change(method.replaceGroup, replaceGroup),
    patchGroup: ofGroups.change(method.patchGroup, patchGroup),
    deleteGroup: ofGroups.remove(method.deleteGroup),
  };
}

function handlersOf({ sceneOf, write }: ScimCalls, kind: Kind) {
  const { collection, get, findChanged, list, create: make, remove } = kind;
  const show = async (scene: Scene, id: string, selection: Selection): Promise<HttpBody> =>
    toBody(select(await get(scene, id, selection), selection));
  return {
    get: async (request: Selection & { readonly id: string }, context: HandlerContext): Promise<HttpBody> =>
      show(await sceneOf(context), request.id, request),

    list: async (request: ListFields, context: HandlerContext): Promise<HttpBody> => {
      const { start, page } = pageOf(request);
      const { total, resources } = await list(await sceneOf(context), request.filter, page, request);
      const shown = resources.map((each) => select(each, request));
      return toBody(listOf(shown, total, start));
    },

    create: (called: DescMethod) => (request: WriteFields, context: HandlerContext) => {
      const run = make(readObject(request.body));
      return write(called, request, context, async (scene) => {
        const id = await run(scene);
        context.responseHeader.set("location", `${scene.base}/${collection}/${id}`);
        return show(scene, id, request);
      });
    },

    change:
      (called: DescMethod, change: Change) =>
      (request: WriteFields & { readonly id: string }, context: HandlerContext) => {
        const run = change(readObject(request.body));
        return write(called, request, context, async (scene) => {
          await run(scene, request.id);
          const changed = await findChanged(scene, request.id, request);
          // 204 (RFC 7644, 3.5.2).
          return changed === undefined ? create(HttpBodySchema) : toBody(select(changed, request));
        });
      },

    remove: (called: DescMethod) => (request: Message & { readonly id: string }, context: HandlerContext) =>
      write(called, request, context, async (scene) => {
        await remove(scene, request.id);
        return create(EmptySchema);
      }),
  };
}

/** Reads which of a list to return (RFC 7644, 3.4.2.4): values that are too small are the smallest. */
function pageOf({ startIndex = 1, count = maxPage }: ListFields) {
  const start = Math.max(1, startIndex);
  return { start, page: { offset: start - 1, limit: Math.min(Math.max(0, count), maxPage) } };
}
