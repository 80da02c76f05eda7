import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { compileResponseEncoder } from "../../../src/rest/calls/encode-response.ts";
import { createJsonWriters } from "../../../src/rest/json/write-json.ts";
import { createCodecs } from "../../../src/rpc/unary/codecs.ts";

const method = MembersService.method.getMember;
const writers = createJsonWriters({ alwaysEmitImplicit: true, useProtoFieldName: true });
const plain = { alt: "json", pretty: false, fields: undefined } as const;
const codecOf = createCodecs(32, () => undefined);
const rest = compileResponseEncoder(method.output, "", "GetMember", writers);

test.each([
  ["JSON over REST", (member) => rest.encode(member, plain, true).body],
  ["JSON over Connect", (member) => codecOf(method, "json").write(member, true)],
  ["Protobuf", (member) => codecOf(method, "proto").write(member, true)],
] satisfies [string, (member: ReturnType<typeof createMember>) => unknown][])(
  "a response that is reused is encoded once, and keeps no other memory: %s",
  (_name, encode) => {
    const member = createMember();
    const body = encode(member) as Uint8Array;
    expect(body.buffer.byteLength).toBe(body.byteLength);
    expect(body.byteLength).toBeGreaterThanOrEqual(5_000);
    expect(encode(member)).toBe(body);
  },
);

test("a short response that is reused is kept as text, which is sent together with the head", () => {
  const { body } = rest.encode(createMember("Ada"), plain, true);
  expect(JSON.parse(body as string)).toMatchObject({ name: "ada", description: "Ada" });
});

function createMember(description = "x".repeat(5_000)) {
  return create(method.output, { name: "ada", description });
}
