// What is accepted without protovalidate is compared with protovalidate: all that is accepted must be valid.
import { type DescMessage, type Message, create, createRegistry } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { BatchCheckAccessRequestSchema, CheckAccessRequestSchema } from "../../gen/iam/v1alpha/access_pb.ts";
import { file_iam_v1alpha_constraints } from "../../gen/iam/v1alpha/constraints_pb.ts";
import { type Member_Type, MemberSchema } from "../../gen/iam/v1alpha/member_pb.ts";
import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import { OperationTypeSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServiceSchema } from "../../gen/resources/v1alpha/service_pb.ts";
import { services, standardServices } from "../../src/rpc/services.ts";
import { obviouslyKeepsConstraints } from "../../src/validation/accept-message.ts";
import { arbitraryMessage } from "../rest/json/arbitrary-message.ts";
import { fuzzParameters, fuzzTimeout } from "../support/fuzz-parameters.ts";

const validator = createValidator({ registry: createRegistry(file_iam_v1alpha_constraints) });
const isValid = (schema: DescMessage, message: Message): boolean =>
  validator.validate(schema, message).kind === "valid";

const id = "0198a4a6-7b1f-7c3e-9a51-2b7f5f0c9d11";
const letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
/** Texts at the edges of the constraints, most of which are valid for some field. */
const text = fc.oneof(
  fc.constantFrom("", "a", "a-b", "compute", "iam", "compute.instances.get", "a.b.c.d", "A.b.c", id, id.toUpperCase()),
  fc.constantFrom(
    "a\0",
    "\u007f",
    "a\nb",
    "é",
    "😀",
    "Kd",
    "team/site",
    "cpu_cores",
    "1a",
    "a-",
    "orgs/acme/members/a",
  ),
  fc
    .constantFrom(41, 42, 43, 62, 63, 64, 65, 255, 256, 512, 513, 2048, 2049, 4096, 4097)
    .map((count) => "a".repeat(count)),
  fc.constantFrom(32, 128, 255, 256, 512, 1024).map((count) => "😀".repeat(count)),
  fc.string({ unit: fc.constantFrom(...Array.from(letters), ".", "_", "A", "é"), maxLength: 70 }),
);

const run = fuzzParameters(10);
vi.setConfig({ testTimeout: fuzzTimeout(run) * 5 });

const inputs = [
  ...new Set([...services, ...standardServices].flatMap(({ methods }) => methods.map(({ input }) => input))),
];

test("all that is accepted is valid, and much is accepted", () => {
  const seen = { accepted: 0, valid: 0 };
  for (const [index, schema] of inputs.entries()) {
    fc.assert(
      fc.property(arbitraryMessage(schema, { depth: 2, broken: 0, text }), (message) => {
        const accepts = obviouslyKeepsConstraints(schema, message);
        const valid = isValid(schema, message);
        seen.accepted += Number(accepts);
        seen.valid += Number(valid);
        expect(accepts && !valid).toBe(false);
      }),
      // With the same seed, most messages would have the same few texts, of which chance may accept none.
      { ...run, seed: run.seed + index },
    );
  }
  expect(seen.accepted).toBeGreaterThan(seen.valid * 0.8);
});

const member = (fields: object): [DescMessage, Message] => [
  MemberSchema,
  create(MemberSchema, { name: "a", ...fields }),
];
const check = (fields: object): [DescMessage, Message] => [
  CheckAccessRequestSchema,
  create(CheckAccessRequestSchema, { subjectPath: "orgs/a/members/a", permission: "iam.members.get", ...fields }),
];
const checks = (count: number): [DescMessage, Message] => [
  BatchCheckAccessRequestSchema,
  create(BatchCheckAccessRequestSchema, { checks: Array.from({ length: count }, () => check({})[1]) as never }),
];
const role = (permissions: string[]): [DescMessage, Message] => [
  RoleSchema,
  create(RoleSchema, { name: "a", permissions }),
];
const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, "b"]));

describe("what clients usually send is accepted", () => {
  test.each<[what: string, ...ReturnType<typeof member>]>([
    ["a member", ...member({ displayName: "Ada L.", description: "x".repeat(2048), labels: labels(64), id })],
    ["a check", ...check({ maxStaleness: { seconds: 60n }, context: { ip: "192.0.2.7" } })],
    ["a batch", ...checks(100)],
    ["a role", ...role(["a.b.c", "a.b.d"])],
    ["an operation", OperationTypeSchema, create(OperationTypeSchema, { verb: "a".repeat(42) })],
  ])("%s", (_what, schema, message) => {
    expect(obviouslyKeepsConstraints(schema, message)).toBe(true);
    expect(isValid(schema, message)).toBe(true);
  });
});

describe("what is beyond a limit is not", () => {
  test.each<[what: string, ...ReturnType<typeof member>]>([
    ["65 labels", ...member({ labels: labels(65) })],
    ["a key of a label", ...member({ labels: { A: "b" } })],
    ["a value of a label", ...member({ labels: { a: "b".repeat(256) } })],
    ["a display name of 65 letters", ...member({ displayName: "a".repeat(65) })],
    ["a control character", ...member({ displayName: "a\n" })],
    ["a long permission", ...role([`a.b.${"c".repeat(125)}`])],
    ["the name of a service", ServiceSchema, create(ServiceSchema, { name: "a".repeat(43) })],
    ["the name of a service that is an area", ServiceSchema, create(ServiceSchema, { name: "iam" })],
    ["a verb", OperationTypeSchema, create(OperationTypeSchema, { verb: "a".repeat(43) })],
    ["a name like an id", ...member({ name: id })],
    ["a type that is not declared", ...member({ type: 77 as Member_Type })],
    ["a staleness of more than a day", ...check({ maxStaleness: { seconds: 86_400n, nanos: 1 } })],
    ["a negative staleness", ...check({ maxStaleness: { nanos: -1 } })],
    ["too many checks", ...checks(1001)],
    [
      "a permission in a batch",
      BatchCheckAccessRequestSchema,
      create(BatchCheckAccessRequestSchema, { checks: [{ permission: "a" }] }),
    ],
    ["a permission twice", ...role(["a.b.c", "a.b.c"])],
    ["a permission with two parts", ...role(["a.b"])],
  ])("%s", (_what, schema, message) => {
    expect(obviouslyKeepsConstraints(schema, message)).toBe(false);
    expect(isValid(schema, message)).toBe(false);
  });
});
