// Schemas and parameters that take long to check: others are answered meanwhile, and no lock is held.
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { required } from "../../src/errors/required.ts";
import { uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type Cloud, openCloud } from "./cloud.ts";

let cloud: Cloud;
beforeAll(async () => {
  const server = await sharedServer();
  cloud = await openCloud("Connect", server.url, server.operatorKey);
});

/** Creates a type whose resources have parameters. */
async function createType(parametersSchema: JsonObject): Promise<string> {
  const name = uniqueName("type");
  const operations = [{ verb: "create" }, { verb: "delete" }];
  const resourceType = { name, collection: name, operations, parametersSchema };
  return (await cloud.types.createResourceType({ parentPath: cloud.servicePath, resourceType })).path;
}

const backtracking: JsonObject = { type: "object", properties: { text: { type: "string", pattern: "^(a|a)*$" } } };

const resourcesOf = (typePath: string, texts: readonly string[]) =>
  texts.map((text) => ({ resource: { name: uniqueName("slow"), typePath, parameters: { text } } }));

test("of a batch leave the service, and its org, to others", async () => {
  const typePath = await createType(backtracking);
  // A matcher that backtracks takes time that doubles with each letter.
  const requests = resourcesOf(typePath, Array<string>(100).fill(`${"a".repeat(4_500)}!`));
  const ended: string[] = [];
  const batch = failureOf(
    cloud.resources.batchCreateResources({ parentPath: cloud.project, requests, validateOnly: true }),
  ).then(({ fields }) => ended.push(`refused: ${fields.join()}`));
  const calls = [
    cloud.types.getResourceType({ path: typePath }).then(() => ended.push("read")),
    cloud.api.groups
      .createGroup({ parentPath: cloud.org, group: { name: uniqueName("group") } })
      .then(() => ended.push("write")),
  ];
  await Promise.all([batch, ...calls]);
  const refused = "refused: requests[0].resource.parameters.text";
  expect([ended.slice(0, 2).toSorted(), ended[2]]).toEqual([["read", "write"], refused]);
});

test("of a batch have one limit, and the error names the resource that exceeds it", async () => {
  const typePath = await createType(backtracking);
  const requests = resourcesOf(typePath, Array<string>(100).fill("a".repeat(9_000)));
  const failure = await failureOf(cloud.resources.batchCreateResources({ parentPath: cloud.project, requests }));
  expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID" });
  expect(failure.fields[0]).toMatch(/^requests\[[1-9]\d\]\.resource\.parameters$/);
  expect(failure.message).toContain(typePath);
});

test("can be a long list of objects in which none may be there twice", async () => {
  const typePath = await createType({ type: "object", properties: { disks: { type: "array", uniqueItems: true } } });
  const disks = Array.from({ length: 2_500 }, (_, index) => ({ size: index }));
  await cloud.create(uniqueName("many"), 0, { typePath, quantities: {}, parameters: { disks } });
  const twice = cloud.create(uniqueName("many"), 0, {
    typePath,
    quantities: {},
    parameters: { disks: [...disks, { size: 1_000 }] },
  });
  expect(await failureOf(twice)).toMatchObject({ fields: ["resource.parameters.disks"] });
});

test("that a repeated request gives are not checked by a schema that was changed since", async () => {
  const typePath = await createType({ type: "object", properties: { text: { type: "string" } } });
  const request = {
    parentPath: cloud.project,
    requestId: "5c1f5d3e-9a06-4f0a-8a43-f1d0a3b0c001",
    resource: { name: uniqueName("again"), typePath, parameters: { text: "a" } },
  };
  const { path } = await cloud.resources.createResource(request);
  const parametersSchema: JsonObject = { type: "object", properties: { text: { type: "integer" } } };
  await cloud.types.updateResourceType({ path: typePath, resourceType: { parametersSchema } });
  expect((await cloud.resources.createResource(request)).path).toBe(path);
  const { requestId: _same, ...other } = request;
  expect(await failureOf(cloud.resources.createResource(other))).toMatchObject({
    fields: ["resource.parameters.text"],
  });
});

test("of each type of a batch are checked, and the error names the type and the pattern", async () => {
  const operations = [{ verb: "create" }, { verb: "delete" }];
  const typeWith = (pattern: string) => {
    const name = uniqueName("type");
    const parametersSchema: JsonObject = { properties: { text: { pattern } } };
    return { resourceType: { name, collection: name, operations, parametersSchema } };
  };
  const create = (patterns: readonly string[]) =>
    cloud.types.batchCreateResourceTypes({ parentPath: cloud.servicePath, requests: patterns.map(typeWith) });
  const failure = await failureOf(create(["^a$", "^(?=a)"]));
  expect(failure.fields).toEqual(["requests[1].resource_type.parameters_schema"]);
  expect(failure.message).toContain('#/properties/text/pattern: the pattern "^(?=a)" must be one without look-around');
  // All of them together take more work than a request may.
  const large = Array.from({ length: 150 }, (_, index) => `${index}(?:ab){900}`);
  const exceeded = await failureOf(create(large));
  expect(exceeded.fields[0]).toMatch(/^requests\[\d+\]\.resource_type\.parameters_schema$/);
  expect(required(exceeded.message)).toContain("all of a request");
});
