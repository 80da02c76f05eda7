import { type MessageInitShape, clone, create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { GroupMemberSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { type Member, MemberSchema, Member_State, Member_Type } from "../../gen/iam/v1alpha/member_pb.ts";
import { type Org, OrgSchema } from "../../gen/iam/v1alpha/org_pb.ts";
import { applyUpdate } from "../../src/standard-methods/write/apply-update.ts";
import { thrownBy } from "../paths/service-failure.ts";

const current = create(MemberSchema, {
  path: "/orgs/acme/members/alice",
  id: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b",
  name: "alice",
  displayName: "Alice",
  description: "Runs things.",
  labels: { env: "prod", team: "sre", "example.com/cost": "4711" },
  type: Member_Type.USER,
  state: Member_State.ACTIVE,
  etag: "7",
  createTime: timestampFromMs(0),
  updateTime: timestampFromMs(0),
});

type MemberInit = MessageInitShape<typeof MemberSchema>;

const update = (patch: MemberInit, paths?: string[]) =>
  applyUpdate(
    MemberSchema,
    current,
    create(MemberSchema, patch),
    paths && { $typeName: "google.protobuf.FieldMask", paths },
    "member",
  );

interface Case {
  readonly rule: string;
  readonly patch: MemberInit;
  readonly mask?: string[];
  /** The changed fields; none if left out. */
  readonly changes?: MemberInit;
}

const labels = (changes: Record<string, string>, ...removed: string[]) => {
  const all = { ...current.labels, ...changes };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !removed.includes(key)));
};

const cases: readonly Case[] = [
  // Without a mask, the fields that have a value are changed.
  { rule: "no mask, one field", patch: { displayName: "Al" }, changes: { displayName: "Al" } },
  { rule: "no mask, nothing", patch: {} },
  { rule: "no mask, an empty value is none", patch: { displayName: "", labels: {} } },
  { rule: "no mask, labels are replaced as a whole", patch: { labels: { a: "1" } }, changes: { labels: { a: "1" } } },
  { rule: "an empty mask is none", patch: { displayName: "Al" }, mask: [], changes: { displayName: "Al" } },
  // With a mask, only its fields are changed.
  { rule: "one field of two", patch: { name: "al", displayName: "Al" }, mask: ["name"], changes: { name: "al" } },
  {
    rule: "two fields",
    patch: { name: "al", displayName: "Al" },
    mask: ["name", "display_name"],
    changes: { name: "al", displayName: "Al" },
  },
  { rule: "a field that is named twice", patch: { name: "al" }, mask: ["name", "name"], changes: { name: "al" } },
  { rule: "a field without a value is cleared", patch: {}, mask: ["display_name"], changes: { displayName: "" } },
  { rule: "labels without a value are cleared", patch: {}, mask: ["labels"], changes: { labels: {} } },
  {
    rule: "labels are replaced as a whole",
    patch: { labels: { a: "1" } },
    mask: ["labels"],
    changes: { labels: { a: "1" } },
  },
  {
    rule: "the same value changes nothing",
    patch: { name: "alice", labels: { ...current.labels } },
    mask: ["name", "labels"],
  },
  // A mask can name an entry of a map.
  {
    rule: "a label is changed",
    patch: { labels: { env: "test", x: "y" } },
    mask: ["labels.env"],
    changes: { labels: labels({ env: "test" }) },
  },
  {
    rule: "a label is added",
    patch: { labels: { tier: "1" } },
    mask: ["labels.tier"],
    changes: { labels: labels({ tier: "1" }) },
  },
  { rule: "a label is removed", patch: {}, mask: ["labels.env"], changes: { labels: labels({}, "env") } },
  {
    rule: "a label with dots in its key",
    patch: { labels: { "example.com/cost": "1" } },
    mask: ["labels.`example.com/cost`"],
    changes: { labels: labels({ "example.com/cost": "1" }) },
  },
  {
    rule: "a label with dashes and slashes in its key",
    patch: { labels: { "cost-centre/eu": "1" } },
    mask: ["labels.cost-centre/eu"],
    changes: { labels: labels({ "cost-centre/eu": "1" }) },
  },
  { rule: "a quoted label is removed", patch: {}, mask: ["labels.`env`"], changes: { labels: labels({}, "env") } },
  { rule: "a missing label is not removed", patch: {}, mask: ["labels.nothing"] },
  // A star names all fields.
  {
    rule: "* changes all fields",
    patch: { name: "al", displayName: "Al" },
    mask: ["*"],
    changes: { name: "al", displayName: "Al", description: "", labels: {} },
  },
  {
    rule: "* and a field",
    patch: { name: "al" },
    mask: ["name", "*"],
    changes: { name: "al", displayName: "", description: "", labels: {} },
  },
  // Output-only fields are ignored.
  {
    rule: "output-only fields without a mask",
    patch: { id: "x", path: "/x", state: Member_State.DELETED, createTime: timestampFromMs(9) },
  },
  {
    rule: "output-only fields that the mask names",
    patch: { id: "x", state: Member_State.SUSPENDED },
    mask: ["id", "state", "create_time"],
  },
  {
    rule: "a path inside an output-only field",
    patch: { createTime: timestampFromMs(9) },
    mask: ["create_time.seconds"],
  },
  { rule: "etag without a mask", patch: { etag: "8" } },
  { rule: "etag that the mask names", patch: { etag: "8" }, mask: ["etag"] },
  { rule: "what was read is sent back", patch: current },
  { rule: "what was read is sent back for all fields", patch: current, mask: ["*"] },
  // Immutable fields can be repeated.
  { rule: "an immutable field with its value", patch: { type: Member_Type.USER }, mask: ["type"] },
  { rule: "an immutable field without a value", patch: {}, mask: ["type"] },
];

describe("an update changes the fields that it names:", () => {
  test.each(cases)("$rule", ({ patch, mask, changes = {} }) => {
    const before = clone(MemberSchema, current);
    const { resource, changed } = update(patch, mask);
    const expected: Member = Object.assign(clone(MemberSchema, current), changes);
    expect(resource).toEqual(expected);
    expect(changed).toBe(Object.keys(changes).length > 0);
    // The original resource is not changed.
    expect(current).toEqual(before);
  });
});

test("an update mask names at most 100 fields", () => {
  const names = (count: number) => Array.from({ length: count }, () => "display_name");
  expect(update({ displayName: "Al" }, names(100)).changed).toBe(true);
  expect(() => update({ displayName: "Al" }, names(101))).toThrow("must name at most 100 fields");
});

const unknown = (path: string) => ({
  field: "update_mask",
  description: `names no field of member: ${JSON.stringify(path)}; it may name name, display_name, description, labels, type, etag, invitation_expire_time, email and *`,
  rule: "update_mask",
});
const immutable = {
  field: "member.type",
  description: "cannot be changed once the resource exists",
  rule: "immutable",
};

describe("an update is refused for", () => {
  const noFields = ["nothing", "displayName", "", "name.x", "type.x", "toString", "__proto__", "member.name", "LABELS"];
  const noPaths = [
    "labels.",
    "labels..x",
    "labels.`env",
    "labels.`env`x",
    "labels.a b",
    "labels.env,name",
    "`labels`.env",
    "*.name",
  ];
  test.each(noFields.concat(noPaths))("a mask that names no field: %j", (path) => {
    const error = thrownBy(() => update({ displayName: "Al" }, ["display_name", path]));
    expect(error.reason).toBe("FIELD_INVALID");
    expect(error.violations).toEqual([unknown(path)]);
  });

  test.each([
    ["labels.env.x", "goes on after a key of labels; a key with dots is quoted, as in labels.`env.x`"],
    [
      "labels.example.com/cost",
      "goes on after a key of labels; a key with dots is quoted, as in labels.`example.com/cost`",
    ],
    [
      "labels.`Env`",
      expect.stringContaining('names a key that labels cannot have: "Env"; they must have keys of 1 to 63'),
    ],
    ["labels.``", expect.stringContaining('names a key that labels cannot have: ""; they must have keys of 1 to 63')],
    ["labels.-x", expect.stringContaining('names a key that labels cannot have: "-x"; they must have keys of 1 to 63')],
  ])("a mask that names what no key can be: %j", (path, description) => {
    const error = thrownBy(() => update({ displayName: "Al" }, ["display_name", path]));
    expect(error.violations).toEqual([{ field: "update_mask", description, rule: "update_mask" }]);
  });

  test("a long path in the mask, and the error quotes its start", () => {
    const error = thrownBy(() => update({}, ["x".repeat(10_000)]));
    expect(error.violations).toEqual([unknown("x".repeat(100))]);
  });

  test.each([
    ["without a mask", undefined],
    ["that the mask names", ["type"]],
    ["among all fields", ["*"]],
  ])("another value of an immutable field %s", (_name, mask) => {
    const error = thrownBy(() => update({ name: "alice", type: Member_Type.APPLICATION }, mask));
    expect(error.violations).toEqual([immutable]);
  });

  test("several errors, all in one response", () => {
    const error = thrownBy(() => update({ type: Member_Type.APPLICATION }, ["type", "a", "b"]));
    expect(error.violations).toEqual([immutable, unknown("a"), unknown("b")]);
  });

  test.each([
    ["a name that is taken away", {}, ["name"], "member.name", "required"],
    ["an invalid name", { name: "Al" }, ["name"], "member.name", "name.format"],
    [
      "a display name that is too long",
      { displayName: "Ä".repeat(513) },
      undefined,
      "member.display_name",
      "display_name.length",
    ],
    ["an invalid label key", { labels: { A: "x" } }, ["labels.A"], "member.labels", "labels.keys"],
  ])("a result that breaks a constraint: %s", (_name, patch, mask, field, rule) => {
    expect(thrownBy(() => update(patch, mask)).violations).toMatchObject([{ field, rule }]);
  });

  test("more labels than allowed, counting the new ones and those that stay", () => {
    const many = create(MemberSchema, { ...current, labels: Object.fromEntries(keys(64).map((key) => [key, ""])) });
    const patch = create(MemberSchema, { labels: { "one-more": "" } });
    const mask = { $typeName: "google.protobuf.FieldMask" as const, paths: ["labels.one-more"] };
    const error = thrownBy(() => applyUpdate(MemberSchema, many, patch, mask, "member"));
    expect(error.violations).toMatchObject([{ field: "member.labels", rule: "labels.count" }]);
  });
});

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`);

describe("an immutable path", () => {
  const org: Org = create(OrgSchema, { name: "acme", customerPath: "/customers/acme", etag: "1" });
  const updateOrg = (customerPath: string) =>
    applyUpdate(OrgSchema, org, create(OrgSchema, { customerPath }), undefined, "org");

  test.each(["/customers/acme", "customers/acme"])("can be repeated with and without the slash: %s", (path) => {
    expect(updateOrg(path)).toEqual({ resource: org, changed: false });
  });

  test.each(["/customers/other", "//customers/acme", "/customers/acme/"])("cannot be changed: %s", (path) => {
    expect(thrownBy(() => updateOrg(path)).violations).toMatchObject([
      { field: "org.customer_path", rule: "immutable" },
    ]);
  });
});

describe("a time", () => {
  const membership = create(GroupMemberSchema, {
    memberPath: "/orgs/acme/members/alice",
    expireTime: timestampFromMs(1_000),
  });
  const mask = { $typeName: "google.protobuf.FieldMask" as const, paths: ["expire_time"] };

  test("gets its new value, and is removed if there is none", () => {
    const later = create(GroupMemberSchema, { expireTime: timestampFromMs(2_000) });
    expect(applyUpdate(GroupMemberSchema, membership, later, mask, "group_member")).toEqual({
      resource: { ...membership, expireTime: timestampFromMs(2_000) },
      changed: true,
    });
    const none = applyUpdate(GroupMemberSchema, membership, create(GroupMemberSchema), mask, "group_member");
    expect(none.resource.expireTime).toBeUndefined();
    expect(none.changed).toBe(true);
  });

  test("that is equal changes nothing", () => {
    const same = create(GroupMemberSchema, { expireTime: timestampFromMs(1_000) });
    expect(applyUpdate(GroupMemberSchema, membership, same, mask, "group_member").changed).toBe(false);
  });
});
