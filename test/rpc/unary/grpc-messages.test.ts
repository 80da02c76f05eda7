import { create } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { GetOrgRequestSchema, OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
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
