// Tests what answers and errors about resources show of what their callers could not get: resources in operations, and quotas.
import { createClient } from "@connectrpc/connect";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { QuotasService } from "../../gen/iam/v1alpha/quota_pb.ts";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import { required } from "../../src/errors/required.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport, overFirst } from "../support/transports.ts";
import { type Cloud, type ResourcesApi, createResourcesApi, joinWith, openCloud } from "./cloud.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

describe.each(overFirst(["REST", "gRPC", "Connect"]))("over %s", (protocol) => {
  let cloud: Cloud;
  beforeEach(async () => {
    cloud = await openCloud(protocol, server.url, server.operatorKey);
  });

  const join = (held: Parameters<typeof joinWith>[3]): Promise<ResourcesApi> =>
    joinWith(cloud, protocol, server.url, held);
  const clientsOf = (key: string): ResourcesApi => createResourcesApi(protocol, server.url, key);

  describe("an operation", () => {
    /** What an operation shows of its resource. */
    const resourceIn = ({
      quantities,
      givenQuantities,
      qualities,
      givenQualities,
      outputs,
      references,
    }: Operation) => ({
      quantities,
      givenQuantities,
      qualities,
      givenQualities,
      outputs,
      references,
    });
    const nothing = {
      quantities: {},
      givenQuantities: {},
      qualities: {},
      givenQualities: {},
      outputs: undefined,
      references: {},
    };
    const operations = (...verbs: string[]): string[] => verbs.map((verb) => `resources.operations.${verb}`);
    const own = (...verbs: string[]): string[] => verbs.map((verb) => `${cloud.service}.instances.${verb}`);

    /** Creates a resource, and returns the path of the operation, which has succeeded. */
    async function succeed(name: string): Promise<string> {
      const { path } = await cloud.create(name, 2, { qualities: { [cloud.certificate]: 1 } });
      const claim = await cloud.claim();
      await cloud.provider.completeOperation({
        ...cloud.present(claim),
        givenQuantities: { [cloud.cores]: 3 },
        outputs: { address: "10.0.0.1" },
      });
      return path;
    }

    test("shows what its resource has to callers who may get the resource, and to others that there is the operation", async () => {
      const path = await succeed("db");
      const whole = await cloud.operations.getOperation({ path });
      expect(resourceIn(whole)).toMatchObject({
        quantities: { [cloud.cores]: 2 },
        givenQuantities: { [cloud.cores]: 3 },
        givenQualities: { [cloud.certificate]: 1 },
        outputs: { address: "10.0.0.1" },
      });
      const watching = operations("get", "list", "cancel");
      const blind = await join({ [cloud.project]: watching });
      const readers = [
        await join({ [cloud.project]: [...watching, ...own("get")] }),
        await join({ [cloud.project]: [...watching, "resources.resources.get"] }),
      ];
      const parentPath = cloud.project;
      const ways = (client: ResourcesApi["operations"]): Promise<Operation>[] => [
        client.getOperation({ path }),
        client.listOperations({ parentPath }).then((page) => required(page.operations[0])),
        client.waitOperation({ path }),
        client.cancelOperation({ path }),
      ];
      for (const [reader, expected] of [
        [blind, { ...whole, ...nothing }],
        ...readers.map((each) => [each, whole] as const),
        [blind, { ...whole, ...nothing }],
      ] as const) {
        for (const shown of await Promise.all(ways(reader.operations))) expect(shown).toEqual(expected);
      }
    });

    test("is decided for each of a list, by the resource's type and the condition of the role binding", async () => {
      const resourceType = {
        name: "volumes",
        collection: "volumes",
        operations: [{ verb: "create" }, { verb: "delete" }],
      };
      const { path: typePath } = await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType });
      const [first, second] = [await succeed("first"), await succeed("second")];
      const volume = await cloud.resources.createResource({
        parentPath: cloud.project,
        resource: { name: "disk", typePath },
      });
      const { provider } = cloud;
      await provider.completeOperation({ ...cloud.present(await cloud.claim()), outputs: { serial: "1" } });
      const reader = await join({
        [cloud.project]: [...operations("list"), `${cloud.service}.volumes.get`],
      });
      const shown = (await reader.operations.listOperations({ parentPath: cloud.project })).operations;
      expect(shown.map(({ path }) => path)).toEqual([first, second, volume.path]);
      expect(shown.map(({ outputs }) => outputs)).toEqual([undefined, undefined, { serial: "1" }]);

      const { api, org } = cloud;
      const { path: subjectPath } = await api.members.createMember({
        parentPath: org,
        member: { name: "conditional" },
      });
      const bind = (name: string, rolePath: string, condition = "") =>
        api.roleBindings.createRoleBinding({
          parentPath: cloud.project,
          roleBinding: { name, rolePath, subjectPath, condition },
        });
      const role = { name: "watcher", permissions: operations("list") };
      await bind("watching", (await api.roles.createRole({ parentPath: org, role })).path);
      await bind("reading", "/roles/viewer", `resource.path == "${cloud.pathOf("second")}"`);
      const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
      const { listOperations } = clientsOf(required(secret)).operations;
      const some = (await listOperations({ parentPath: cloud.project })).operations;
      expect(some.map(({ outputs }) => outputs)).toEqual([undefined, { address: "10.0.0.1" }, undefined]);
    });

    test("shows nothing of its resource to callers who may start it and not get the resource", async () => {
      await succeed("db");
      const path = cloud.pathOf("db");
      const starter = await join({ [cloud.project]: own("create", "resize", "delete") });
      const { cores, project: parentPath, typePath } = cloud;
      const resource = { name: "new", typePath, quantities: { [cores]: 1 } };
      const created = await starter.resources.createResource({ parentPath, resource });
      const { operations: batch } = await starter.resources.batchCreateResources({
        parentPath,
        requests: [{ parentPath, resource: { ...resource, name: "other" } }],
      });
      const resized = await starter.resources.runResource({ path, operation: "resize", quantities: { [cores]: 4 } });
      await cloud.operations.cancelOperation({ path: resized.path });
      const deleted = await starter.resources.deleteResource({ path });
      for (const operation of [created, ...batch, resized, deleted]) {
        expect(resourceIn(operation)).toEqual(nothing);
        expect(operation.resourcePath).not.toBe("");
      }
      expect((await cloud.operations.getOperation({ path: created.path })).quantities[cores]).toBe(1);
    });

    test("shows a provider of the service what it has claimed", async () => {
      const { path } = await cloud.create("db");
      const claim = await cloud.claim();
      expect(claim.operation).toMatchObject({ path, quantities: { [cloud.cores]: 2 } });
      const given = { [cloud.cores]: 3 };
      const completed = await cloud.provider.completeOperation({ ...cloud.present(claim), givenQuantities: given });
      expect(completed.givenQuantities[cloud.cores]).toBe(3);
    });
  });

  test("a deletion of an org or project that is refused names a resource in it to callers who may read that", async () => {
    const { api, org, project } = cloud;
    // The last org of a customer is not deleted.
    const { customerPath } = await api.orgs.getOrg({ path: org });
    await api.orgs.createOrg({ org: { name: uniqueName("sibling"), customerPath } });
    await cloud.create("db");
    await cloud.complete();
    const deleter = async (...permissions: string[]) => {
      const name = uniqueName("deleter");
      const role = { name, permissions: ["iam.projects.delete", "iam.orgs.delete", ...permissions] };
      const { path: rolePath } = await api.roles.createRole({ parentPath: org, role });
      const { path: subjectPath } = await api.members.createMember({ parentPath: org, member: { name } });
      await api.roleBindings.createRoleBinding({ parentPath: org, roleBinding: { name, rolePath, subjectPath } });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name } });
      return createApi(protocol, server.url, required(secret));
    };
    const [blind, reader] = [await deleter(), await deleter(`${cloud.service}.instances.get`)];
    const usedBy = async (
      who: Pick<typeof api, "orgs" | "projects">,
      what: "orgs" | "projects",
      validateOnly: boolean,
    ) => {
      const deleting =
        what === "orgs"
          ? who.orgs.deleteOrg({ path: org, validateOnly })
          : who.projects.deleteProject({ path: project, validateOnly });
      const { reason, message, metadata } = await failureOf(deleting);
      expect(reason).toBe("RESOURCE_IN_USE");
      expect(message.includes(cloud.pathOf("db"))).toBe(metadata["used_by"] !== undefined);
      return metadata["used_by"];
    };
    for (const dryRun of [true, false]) {
      for (const what of ["orgs", "projects"] as const) {
        expect(await usedBy(blind, what, dryRun)).toBeUndefined();
        expect(await usedBy(reader, what, dryRun)).toBe(cloud.pathOf("db"));
      }
    }
    await api.projects.suspendProject({ path: project });
    expect(await usedBy(reader, "orgs", true)).toBeUndefined();
    expect(await usedBy(cloud.api, "orgs", true)).toBe(cloud.pathOf("db"));
  });

  describe("a quota", () => {
    const quotas = () => createClient(QuotasService, createTransport(protocol, server.url, server.operatorKey));
    const limit = (path: string, amount: number) =>
      quotas().updateQuota({ parentPath: path, quota: { limits: { [cloud.cores]: amount } } });

    const starting = () => ["create", "get", "delete"].map((verb) => `${cloud.service}.instances.${verb}`);

    test("that the caller may not get is not in what a validated request would leave", async () => {
      const { project, org, cores, typePath, api } = cloud;
      const { customerPath } = await api.orgs.getOrg({ path: org });
      await limit(customerPath, 50);
      await limit(org, 40);
      await limit(project, 30);
      const of = async ({ resources }: Pick<ResourcesApi, "resources">, batch = false) => {
        const resource = { name: "asked", typePath, quantities: { [cores]: 2 } };
        const requests = [{ parentPath: project, resource }];
        const request = { parentPath: project, validateOnly: true };
        const [operation] = batch
          ? (await resources.batchCreateResources({ ...request, requests })).operations
          : [await resources.createResource({ ...request, resource })];
        return required(operation).quotaBalances.map(({ quotaPath, limit: shown }) => [quotaPath, shown]);
      };
      const ofProject = [`${project}/quota`, 30];
      const ofOrg = [`${org}/quota`, 40];
      const editor = await join({ [project]: "/roles/editor" });
      const viewer = await join({ [project]: "/roles/editor", [org]: ["iam.quotas.get"] });
      const blind = await join({ [project]: starting() });
      for (const inBatch of [false, true]) {
        expect(await of(cloud, inBatch)).toEqual([[`${customerPath}/quota`, 50], ofOrg, ofProject]);
        expect(await of(viewer, inBatch)).toEqual([ofOrg, ofProject]);
        expect(await of(editor, inBatch)).toEqual([ofProject]);
        expect(await of(blind, inBatch)).toEqual([]);
      }
    });

    test("that the caller may not get does not show its limit and usage when it refuses", async () => {
      const { project, org, cores, typePath, api } = cloud;
      const { customerPath } = await api.orgs.getOrg({ path: org });
      await limit(customerPath, 7.5);
      await limit(org, 6.5);
      await limit(project, 5.5);
      await cloud.create("first", 1.5);
      await cloud.complete();
      const refusal = async ({ resources }: Pick<ResourcesApi, "resources">) => {
        const resource = { name: "asked", typePath, quantities: { [cores]: 9 } };
        const refused = await failureOf(resources.createResource({ parentPath: project, resource }));
        expect(refused.reason).toBe("QUOTA_EXCEEDED");
        return refused;
      };
      const shown = (message: string): string[] =>
        ["7.5", "6.5", "5.5"].filter((each) => message.includes(` is ${each}:`));
      const editor = await join({ [project]: "/roles/editor" });
      const viewer = await join({ [project]: "/roles/editor", [org]: ["iam.quotas.get"] });
      const blind = await join({ [project]: starting() });
      expect(shown((await refusal(cloud)).message)).toEqual(["7.5", "6.5", "5.5"]);
      expect(shown((await refusal(viewer)).message)).toEqual(["6.5", "5.5"]);
      const { message } = await refusal(editor);
      expect(shown(message)).toEqual(["5.5"]);
      expect(message).toContain(`the quota of ${org} for ${cores} does not allow the 9 more that are needed`);
      expect(message).toContain(`the quota of the customer of ${org} for ${cores} does not allow`);
      expect(message).not.toContain(customerPath);
      expect(shown((await refusal(blind)).message)).toEqual([]);
      expect((await refusal(blind)).metadata).not.toHaveProperty("limit");

      const growing = async ({ resources }: Pick<ResourcesApi, "resources">) => {
        const request = { path: cloud.pathOf("first"), operation: "resize", quantities: { [cores]: 10 } };
        return shown((await failureOf(resources.runResource(request))).message);
      };
      expect(await growing(cloud)).toEqual(["7.5", "6.5", "5.5"]);
      expect(await growing(editor)).toEqual(["5.5"]);
    });

    test("does not show its limit to a provider that gives more than it allows", async () => {
      const { org, cores, api, servicePath, service } = cloud;
      await limit(org, 2);
      const { path: subjectPath } = await api.members.createMember({
        parentPath: "/orgs/system",
        member: { name: service, type: 2 },
      });
      const roleBinding = { name: "runner", rolePath: "/roles/provider", subjectPath };
      await api.roleBindings.createRoleBinding({ parentPath: servicePath, roleBinding });
      const { secret } = await api.apiKeys.createApiKey({ parentPath: subjectPath, apiKey: { name: "key" } });
      await cloud.create("first", 2);
      const completing = (provider: ResourcesApi["provider"], claim: Awaited<ReturnType<Cloud["claim"]>>) =>
        failureOf(provider.completeOperation({ ...cloud.present(claim), givenQuantities: { [cores]: 3 } }));
      const claim = await cloud.claim();
      expect((await completing(cloud.provider, claim)).message).toContain(`the limit of ${org} for ${cores} is 2:`);
      const { message, reason } = await completing(clientsOf(required(secret)).provider, claim);
      expect(reason).toBe("QUOTA_EXCEEDED");
      expect(message).toContain(`the quota of ${org} for ${cores} does not allow the 1 more that are needed`);
    });
  });
});
