import { create, fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { OrgFilesService, PlanOrgRequestSchema } from "../../../gen/iam/v1alpha/org_file_pb.ts";
import { GetOrgRequestSchema, OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { openCompany } from "../../access/callers.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { callUnary, openGrpc } from "../../http/grpc-client.ts";

test("grpc-js, which decodes no characters that URIs reserve, shows the message of an error as it is", async () => {
  const { url } = await sharedServer();
  using client = openGrpc(Number(new URL(url).port));
  const call = callUnary(client, OrgsService.method.getOrg, create(GetOrgRequestSchema, { path: "/orgs/acme" }));
  await expect(call).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
    details: "the request has no credentials: send Authorization: Bearer <API key or access token>",
  });
});

test("an error with a hundred long violations fits what gRPC clients accept, and says how many are left out", async () => {
  const server = await sharedServer();
  const { org, joinAs } = await openCompany("Connect", server);
  const { key } = await joinAs("owner");
  using client = openGrpc(Number(new URL(server.url).port));
  const members = Array.from({ length: 120 }, (_, index) => ({ name: `m${index}`, display_name: "x".repeat(600) }));
  const request = create(PlanOrgRequestSchema, { path: org.path, orgFile: { org: org.name, members } });
  const error: unknown = await callUnary(client, OrgFilesService.method.planOrg, request, key).catch(
    (thrown: unknown) => thrown,
  );
  const { code, details: message, metadata } = error as ServiceError;
  expect(code).toBe(status.INVALID_ARGUMENT);
  const [sent] = metadata.get("grpc-status-details-bin");
  if (!(sent instanceof Buffer)) throw new Error("the error has no details");
  // In base64, with the message in a trailer of its own.
  expect(Math.ceil((sent.length * 4) / 3) + encodeURIComponent(message).length).toBeLessThan(8_192);
  const { details } = fromBinary(StatusSchema, sent);
  const kept = details.flatMap((each) => anyUnpack(each, BadRequestSchema)?.fieldViolations ?? []);
  const [info] = details.flatMap((each) => anyUnpack(each, ErrorInfoSchema) ?? []);
  expect(kept.length).toBeGreaterThan(0);
  expect(info?.metadata["left_out"]).toBe(String(100 - kept.length));
  expect(message).toContain(`(${100 - kept.length} more than the details of this error have)`);
});
