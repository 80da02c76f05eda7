// Implements SCIM 2.0. What a directory changes are members and groups, by calls of their methods in process.
import { create } from "@bufbuild/protobuf";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { HttpBody } from "../../gen/google/api/httpbody_pb.ts";
import { ScimService } from "../../gen/scim/v2/scim_service_pb.ts";
import { callerOf, targetOf } from "../access/evaluation/call.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import { provision } from "../rpc/request-gate.ts";
import { readWriteRequest } from "../standard-methods/method-handler.ts";
import { applyInGroup } from "../standard-methods/write/apply-in-group.ts";
import { type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";
import { createGroup, deleteGroup, getGroup, listGroups, patchGroup, replaceGroup } from "./groups.ts";
import { type Given, readObject, toBody } from "./json.ts";
import type { Scene, WriteScene } from "./scene.ts";
import { describeService, findSchema, findType, listOf, listSchemas, listTypes, maxPage } from "./schemas.ts";
import { type Selection, isSelected, select } from "./selection.ts";
import { findSource, noSource } from "./source.ts";
import { createUser, deleteUser, getUser, listUsers, patchUserOf, replaceUser } from "./users.ts";

interface ScimDependencies extends WriteRunner {
  readonly inProcess: InProcess;
  /** The URL of the service, as its clients know it. */
  readonly issuer: () => string;
}

/** Reads a user or group as a request wants it. */
type Show = (scene: Scene, id: string, selection: Selection) => Promise<object>;

type Change = (scene: WriteScene, id: string, body: Given) => Promise<void>;

interface WriteFields extends Message, Selection {
  readonly body?: HttpBody | undefined;
}

const { method } = ScimService;

export function createScimService(dependencies: ScimDependencies): ServiceImpl<typeof ScimService> {
  const { database, inProcess, issuer } = dependencies;

  const baseOf = (context: HandlerContext): string =>
    `${issuer()}/scim/v2${formatReferences(patterns.Org, targetOf(context, patterns.Org))}`;

  const sceneOf = async (context: HandlerContext): Promise<Scene> => {
    requireOwnOrg(context);
    const db = database.reads;
    return { db, source: await findSource(db, callerOf(context)), base: baseOf(context) };
  };

  /** Runs a write under the lock of the org: all of it, or nothing. */
  const write = <Answer extends Message>(
    called: DescMethod,
    request: Message,
    context: HandlerContext,
    run: (scene: WriteScene) => Promise<Answer>,
  ): Promise<Answer> => {
    requireOwnOrg(context);
    const caller = callerOf(context);
    const base = baseOf(context);
    return runWrite(dependencies, readWriteRequest(called, request, context), async (call) => {
      let answer: Answer | undefined;
      await applyInGroup(context, call, caller.orgId, noCheck, async ({ db, org: { lockTime: time } }) => {
        const source = await findSource(db, caller);
        // From here on, calls in process are those of the source.
        provision(context.values);
        answer = await run({ db, source, base, time, call: (...of) => inProcess.ofCaller(...of, context) });
      });
      if (answer === undefined) throw new Error("a write without an answer");
      return answer;
    });
  };

  const creating =
    (called: DescMethod, make: (scene: WriteScene, body: Given) => Promise<string>, show: Show, collection: string) =>
    (request: WriteFields, context: HandlerContext): Promise<HttpBody> => {
      const body = readObject(request.body);
      return write(called, request, context, async (scene) => {
        const id = await make(scene, body);
        context.responseHeader.set("location", `${scene.base}/${collection}/${id}`);
        return toBody(await show(scene, id, request));
      });
    };

  const changing =
    (called: DescMethod, change: Change, show: Show) =>
    (request: WriteFields & { readonly id: string }, context: HandlerContext): Promise<HttpBody> => {
      const body = readObject(request.body);
      return write(called, request, context, async (scene) => {
        await change(scene, request.id, body);
        return toBody(await show(scene, request.id, request));
      });
    };

  const deleting =
    (called: DescMethod, remove: (scene: WriteScene, id: string) => Promise<void>) =>
    (request: Message & { readonly id: string }, context: HandlerContext) =>
      write(called, request, context, async (scene) => {
        await remove(scene, request.id);
        return create(EmptySchema);
      });

  const getting =
    (show: Show) =>
    async (request: Selection & { readonly id: string }, context: HandlerContext): Promise<HttpBody> =>
      toBody(await show(await sceneOf(context), request.id, request));

  const showUser: Show = async (scene, id, selection) => select(await getUser(scene, id), selection);
  const showGroup: Show = async (scene, id, selection) =>
    select(await getGroup(scene, id, isSelected(selection, "members")), selection);

  return {
    getServiceProviderConfig: async (_request, context) => toBody(describeService(baseOf(context))),
    listResourceTypes: async (_request, context) => toBody(listTypes(baseOf(context))),
    getResourceType: async ({ id }, context) => toBody(findType(baseOf(context), id)),
    listSchemas: async (_request, context) => toBody(listSchemas(baseOf(context))),
    getSchema: async ({ id }, context) => toBody(findSchema(baseOf(context), id)),

    async listUsers(request, context) {
      const { start, page } = pageOf(request);
      const { total, resources } = await listUsers(await sceneOf(context), request.filter, page);
      return toBody(listOf(resources.map((each) => select(each, request)), total, start));
    },
    createUser: creating(method.createUser, createUser, showUser, "Users"),
    getUser: getting(showUser),
    replaceUser: changing(method.replaceUser, replaceUser, showUser),
    patchUser: changing(method.patchUser, patchUserOf, showUser),
    deleteUser: deleting(method.deleteUser, deleteUser),

    async listGroups(request, context) {
      const { start, page } = pageOf(request);
      const withMembers = isSelected(request, "members");
      const { total, resources } = await listGroups(await sceneOf(context), request.filter, page, withMembers);
      return toBody(listOf(resources.map((each) => select(each, request)), total, start));
    },
    createGroup: creating(method.createGroup, createGroup, showGroup, "Groups"),
    getGroup: getting(showGroup),
    replaceGroup: changing(method.replaceGroup, replaceGroup, showGroup),
    patchGroup: changing(method.patchGroup, patchGroup, showGroup),
    deleteGroup: deleting(method.deleteGroup, deleteGroup),
  };
}

const noCheck = (): void => undefined;

/** A source is of the org of its member. @throws ServiceError PERMISSION_DENIED */
function requireOwnOrg(context: HandlerContext): void {
  const [org] = targetOf(context, patterns.Org);
  if (org.by !== "id" || org.value !== callerOf(context).orgId) throw noSource();
}

/** Reads which of a list to return (RFC 7644, 3.4.2.4): values that are too small are the smallest. */
function pageOf({ startIndex = 1, count = maxPage }: { startIndex?: number | undefined; count?: number | undefined }) {
  const start = Math.max(1, startIndex);
  return { start, page: { offset: start - 1, limit: Math.min(Math.max(0, count), maxPage) } };
}
