import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageInitShape,
  ScalarType,
  create,
  getOption,
} from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CreateGroupMemberRequestSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import {
  BatchCreateMembersRequestSchema,
  CreateMemberRequestSchema,
  GetMemberRequestSchema,
  ListMembersRequestSchema,
  MemberSchema,
  UpdateMemberRequestSchema,
} from "../../gen/iam/v1alpha/member_pb.ts";
import { QueryUsageRequestSchema } from "../../gen/iam/v1alpha/usage_pb.ts";
import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import { FieldBehavior, field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import type { FieldViolation } from "../../src/errors/service-error.ts";
import { isName } from "../../src/paths/parse-path.ts";
import { services } from "../../src/rpc/services.ts";
import { findOversized, limitedFieldsOf } from "../../src/validation/find-oversized.ts";
import { brokenConstraints, startValidation, validateMessage } from "../../src/validation/validate-message.ts";
import { outcomeOf, thrownBy } from "../paths/service-failure.ts";
import { ratioOf } from "../support/cpu-time.ts";
import { rounds } from "../support/rounds.ts";

const lengthRule = { rule: "display_name.length", description: "must be at most 512 Unicode characters" };
const charactersRule = {
  rule: "display_name.name_characters",
  description: "must hold at most 64 lowercase Latin letters (a-z), digits and dashes among its characters",
};

type MemberInit = Exclude<MessageInitShape<typeof MemberSchema>, { $typeName: string }>;

/** Returns the violations of a member with these fields and a valid name. */
function violations(fields: MemberInit): readonly FieldViolation[] {
  const outcome = outcomeOf(() => validateMessage(MemberSchema, create(MemberSchema, { name: "a", ...fields })));
  return outcome === undefined ? [] : outcome.violations;
}

const rules = (fields: MemberInit): (string | undefined)[] => violations(fields).map(({ rule }) => rule);

describe("a name", () => {
  test.each(["a", "0", "a-b", "a--b", "007", "3com", "a".repeat(64), `${"a-".repeat(31)}aa`])("can be %j", (name) => {
    expect(rules({ name })).toEqual([]);
  });

  test.each([
    "-",
    "a-",
    "-a",
    "A",
    "ä",
    "a_b",
    "a.b",
    "a b",
    "a/b",
    "a%b",
    "@a",
    "a\n",
    "\na",
    " a",
    "а",
    "a".repeat(65),
    "ａ",
    "a\0",
    "💥",
  ])("may not be %j", (name) => {
    expect(violations({ name })).toEqual([
      {
        field: "name",
        rule: "name.format",
        description:
          'must be 1 to 64 characters, lowercase letters (a-z), digits and dashes, and start and end with a letter or a digit, for example "build-7"',
      },
    ]);
  });

  test("cannot look like a UUID", () => {
    expect(violations({ name: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b" })).toEqual([
      {
        field: "name",
        rule: "name.not_uuid",
        description:
          "must not be shaped like a UUID, so that names and ids cannot be confused; an id is written with a leading @ in a path",
      },
    ]);
  });

  test("must be set", () => {
    expect(violations({ name: "" })).toEqual([{ field: "name", rule: "required", description: "must be set" }]);
  });

  test("is valid exactly if paths accept it", () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "0", "-", "f", "A", "é"), minLength: 1, maxLength: 70 }),
      fc.string({ unit: "binary", minLength: 1 }),
      fc.uuid(),
    );
    fc.assert(
      fc.property(text, (name) => {
        expect(rules({ name }).length === 0).toBe(isName(name));
      }),
      { numRuns: rounds(40, 4_000) },
    );
  });
});

describe("a display name", () => {
  test.each([
    ["of nothing", ""],
    ["of 64 lowercase letters", "a".repeat(64)],
    ["of 64 digits", "7".repeat(64)],
    ["of 64 dashes", "-".repeat(64)],
    ["of 512 capital letters", "A".repeat(512)],
    ["of 512 characters outside of the first plane", "💥".repeat(512)],
    ["of 64 lowercase letters among 512 characters", `${"Äa".repeat(64)}${"𝔸".repeat(384)}`],
    ["of 512 letters that are lowercase but not Latin", "ж".repeat(512)],
    ["of letters with accents", "é".repeat(512)],
    ["in any script", "株式会社 Ünïcödé 🏢"],
  ])("%s is taken", (_name, displayName) => {
    expect(violations({ displayName })).toEqual([]);
  });

  test.each([
    ["of 513 capital letters", "A".repeat(513), [lengthRule]],
    ["of 513 characters outside of the first plane", "💥".repeat(513), [lengthRule]],
    ["of 65 lowercase letters", "a".repeat(65), [charactersRule]],
    ["of 65 digits", "7".repeat(65), [charactersRule]],
    ["of 65 dashes", "-".repeat(65), [charactersRule]],
    ["of 65 lowercase letters, digits and dashes in all", `${"a1-".repeat(21)}ab`, [charactersRule]],
    ["of 65 lowercase letters among others", "Äa💥".repeat(65), [charactersRule]],
    ["of 512 characters, 65 of which are lowercase letters", `${"𝔸".repeat(447)}${"z".repeat(65)}`, [charactersRule]],
  ])("%s is refused", (_name, displayName, expected) => {
    expect(violations({ displayName })).toEqual(expected.map((rule) => ({ field: "display_name", ...rule })));
  });

  test.each(["a", "A", "aA", "💥"])(
    "of a million characters in %s is refused as too long, and in linear time",
    (unit) => {
      const displayName = unit.repeat(1_000_000 / unit.length);
      const ratio = ratioOf(
        () => expect(rules({ displayName })).toContain("display_name.length"),
        () => Array.from(displayName),
      );
      expect(ratio).toBeLessThan(20);
    },
  );

  test.each(["\0", "\n", "\t", "\x1f", "\x7f"])("with the control character %j is refused", (character) => {
    expect(rules({ displayName: `A${character}B` })).toEqual(["display_name.control_characters"]);
  });

  test("is counted as in the specification, with any content", () => {
    const text = fc.array(fc.constantFrom("a", "z", "0", "9", "-", "A", "é", "💥", " ", "`", "{", "/", ":"), {
      maxLength: 200,
      size: "max",
    });
    fc.assert(
      fc.property(text, (characters) => {
        const counted = characters.filter((character) => /[a-z0-9-]/.test(character)).length;
        const expected = counted > 64 ? ["display_name.name_characters"] : [];
        expect(rules({ displayName: characters.join("") })).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a description", () => {
  test.each(["", "Ä".repeat(2048), "💥".repeat(2048), "Two\nlines"])(
    "can be long and have any characters",
    (description) => {
      expect(rules({ description })).toEqual([]);
    },
  );

  test.each(["Ä".repeat(2049), "💥".repeat(2049), "a\0b"])(
    "is refused when it is too long or holds NUL",
    (description) => {
      expect(rules({ description })).toEqual(["description.length"]);
    },
  );
});

/** Returns messages with NUL in one text each, with the path of that. */
function withNul(desc: DescMessage, depth = 0): { message: Message; path: string }[] {
  return desc.fields.flatMap((field) => {
    const set = (value: unknown): Message => Object.assign(create(desc), { [field.localName]: value });
    const inner =
      field.message === undefined || depth === 3 || field.message.file.proto.package === "google.protobuf"
        ? []
        : withNul(field.message, depth + 1);
    if (field.oneof !== undefined) return [];
    switch (field.fieldKind) {
      case "scalar":
        return field.scalar === ScalarType.STRING ? [{ message: set("a\0"), path: field.name }] : [];
      case "list":
        return field.scalar === ScalarType.STRING
          ? [{ message: set(["a\0"]), path: `${field.name}[0]` }]
          : inner.map(({ message, path }) => ({ message: set([message]), path: `${field.name}[0].${path}` }));
      case "map":
        return [{ message: set({ "a\0": mapValueOf(field) }), path: field.name }];
      case "message":
        if (field.message.typeName === "google.protobuf.Struct") {
          return [{ message: set({ a: [{ b: "\0" }] }), path: field.name }];
        }
        return inner.map(({ message, path }) => ({ message: set(message), path: `${field.name}.${path}` }));
      default:
        return [];
    }
  });
}

function mapValueOf({ message, scalar }: DescField & { fieldKind: "map" }): unknown {
  if (message !== undefined) return create(message);
  return scalar === ScalarType.STRING ? "" : 1;
}

test.each(services.flatMap(({ methods }) => methods.map(({ input }) => input)))(
  "no text of a request may contain NUL: $typeName",
  (desc) => {
    for (const { message, path } of withNul(desc)) {
      const fields = outcomeOf(() => validateMessage(desc, message))?.violations.map(({ field }) => field) ?? [];
      expect({ path, isNamed: fields.some((field) => path.startsWith(field)) }).toEqual({ path, isNamed: true });
    }
  },
);

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, ""]));

describe("labels", () => {
  test.each([
    ["64 of them", many(64)],
    ["the longest key and value", { ["k".repeat(63)]: "💥".repeat(255) }],
    ["all characters of a key", { "example.com/cost_centre-7": "4711" }],
    ["a key of one letter", { k: "" }],
  ])("are taken: %s", (_name, labels) => {
    expect(rules({ labels })).toEqual([]);
  });

  test.each([
    ["65 of them", many(65), "labels.count"],
    ["an empty key", { "": "x" }, "labels.keys"],
    ["a key of 64 characters", { ["k".repeat(64)]: "" }, "labels.keys"],
    ["a key that starts with a digit", { "1k": "" }, "labels.keys"],
    ["a key that ends with a dash", { "k-": "" }, "labels.keys"],
    ["a key with a capital letter", { Key: "" }, "labels.keys"],
    ["a key with a space", { "a key": "" }, "labels.keys"],
    ["one bad key among good ones", { ...many(10), "k-": "" }, "labels.keys"],
    ["a value of 256 characters", { k: "a".repeat(256) }, "labels.values"],
    ["a value with a line break", { k: "a\nb" }, "labels.values"],
    ["a value with NUL", { k: "\0" }, "labels.values"],
  ])("are refused: %s", (_name, labels, rule) => {
    expect(violations({ labels })).toMatchObject([{ field: "labels", rule }]);
  });

  test.each([
    [{ ...many(10), "k-": "" }, "k-"],
    [{ ...many(10), K: "", L: "" }, "K"],
    [{ ...many(10), m: "a\nb" }, "m"],
  ])("are refused with the key that breaks the rule: %j", (labels, key) => {
    expect(violations({ labels })[0]?.description).toMatch(new RegExp(`\\(at the key "${key}"\\)$`));
  });

  test("that are too many are refused without a key", () => {
    expect(violations({ labels: many(65) })[0]?.description).toBe("must hold at most 64 labels");
  });
});

test("an undefined enum value is refused, with the names of those that say something", () => {
  const accepted = { rule: "enum.defined_only", description: "must be one of USER, APPLICATION" };
  expect(violations({ type: 99 as never })).toMatchObject([accepted]);
});

test.each([
  ["that stands for none", 0, "enum.not_in"],
  ["that is undefined", 99, "enum.defined_only"],
])("an enum value in a list %s is refused so, too", (_name, value, rule) => {
  const request = create(QueryUsageRequestSchema, { parentPath: "/orgs/acme", groupBy: [value as never] });
  const description = "must be one of ORG, PROJECT, SERVICE, RESOURCE_TYPE";
  expect(brokenConstraints(QueryUsageRequestSchema, request)).toEqual([{ field: "group_by[0]", description, rule }]);
});

test("all violations are in one error, also in its message", () => {
  const member = create(MemberSchema, { name: "A", displayName: "a".repeat(65), labels: { "": "" } });
  const error = thrownBy(() => validateMessage(MemberSchema, member, "member."));
  expect(error.reason).toBe("FIELD_INVALID");
  expect(error.violations.map(({ field }) => field)).toEqual(["member.name", "member.display_name", "member.labels"]);
  expect(error.message).toBe(error.violations.map(({ field, description }) => `${field}: ${description}`).join("; "));
});

describe("a request", () => {
  test("must have its required fields, including those of its resource", () => {
    const missing = (run: () => void) => thrownBy(run).violations.map(({ field, rule }) => `${field} ${rule}`);
    expect(missing(() => validateMessage(GetMemberRequestSchema, create(GetMemberRequestSchema)))).toEqual([
      "path required",
    ]);
    expect(missing(() => validateMessage(CreateMemberRequestSchema, create(CreateMemberRequestSchema)))).toEqual([
      "parent_path required",
      "member required",
    ]);
    const nameless = create(CreateMemberRequestSchema, { parentPath: "orgs/acme", member: {} });
    expect(missing(() => validateMessage(CreateMemberRequestSchema, nameless))).toEqual(["member.name required"]);
    const pathless = create(CreateGroupMemberRequestSchema, { parentPath: "orgs/acme/groups/sre", groupMember: {} });
    expect(missing(() => validateMessage(CreateGroupMemberRequestSchema, pathless))).toEqual([
      "group_member.member_path required",
    ]);
  });

  test("names the field inside its resource that breaks a rule", () => {
    const request = create(CreateMemberRequestSchema, { parentPath: "orgs/acme", member: { name: "A" } });
    expect(thrownBy(() => validateMessage(CreateMemberRequestSchema, request)).violations).toMatchObject([
      { field: "member.name", rule: "name.format" },
    ]);
  });

  test("to update can have a part of the resource, and no field that breaks a rule", () => {
    const partial = create(UpdateMemberRequestSchema, {
      path: "orgs/acme/members/alice",
      member: { displayName: "A" },
    });
    expect(outcomeOf(() => validateMessage(UpdateMemberRequestSchema, partial))).toBeUndefined();
    const wrong = create(UpdateMemberRequestSchema, { path: "orgs/acme/members/alice", member: { name: "A" } });
    expect(thrownBy(() => validateMessage(UpdateMemberRequestSchema, wrong)).violations).toMatchObject([
      { field: "member.name", rule: "name.format" },
    ]);
    const empty = create(UpdateMemberRequestSchema, { path: "orgs/acme/members/alice" });
    expect(thrownBy(() => validateMessage(UpdateMemberRequestSchema, empty)).violations).toMatchObject([
      { field: "member", rule: "required" },
    ]);
  });

  test("for a page has a size of 0 or more and a token of at most 1024 bytes", () => {
    const list = (page: { pageSize?: number; pageToken?: string }) =>
      outcomeOf(() =>
        validateMessage(ListMembersRequestSchema, create(ListMembersRequestSchema, { parentPath: "orgs/-", ...page })),
      )?.violations.map(({ field }) => field);
    expect(list({ pageSize: 2_147_483_647, pageToken: "a".repeat(1024) })).toBeUndefined();
    expect(list({ pageSize: -1 })).toEqual(["page_size"]);
    expect(list({ pageToken: "a".repeat(1025) })).toEqual(["page_token"]);
    expect(list({ pageToken: "é".repeat(513) })).toEqual(["page_token"]);
  });
});

describe("what is too long is refused without a look at what is in it", () => {
  const names = (count: number) => Array.from({ length: count }, () => "No");

  test.each([
    ["a list", RoleSchema, { name: "auditor", permissions: names(1001) }, ["role.permissions repeated.max_items"]],
    ["labels", MemberSchema, { name: "No", labels: many(65) }, ["member.labels labels.count"]],
  ] as const)("%s", (_kind, schema, init, expected) => {
    const prefix = `${schema.name.toLowerCase()}.`;
    const error = thrownBy(() => validateMessage(schema as DescMessage, create(schema as DescMessage, init), prefix));
    expect(error.violations.map(({ field, rule }) => `${field} ${rule}`)).toEqual(expected);
  });

  test("labels in an item of a batch", () => {
    const requests = [{ member: { name: "a" } }, { member: { name: "No", labels: many(65) } }];
    const batch = create(BatchCreateMembersRequestSchema, { parentPath: "orgs/acme", requests });
    expect(thrownBy(() => startValidation(BatchCreateMembersRequestSchema, batch)).violations).toMatchObject([
      { field: "requests[1].member.labels", rule: "labels.count" },
    ]);
  });

  test("as protovalidate refuses it, where that looks at nothing else", () => {
    const role = create(RoleSchema, {
      name: "auditor",
      permissions: Array.from({ length: 1001 }, (_, index) => `a.b.c${index}`),
    });
    const member = create(MemberSchema, { name: "a", labels: many(65) });
    expect(brokenConstraints(RoleSchema, role)).toEqual(findOversized(RoleSchema, role));
    expect(brokenConstraints(MemberSchema, member)).toEqual(findOversized(MemberSchema, member));
  });

  test("a list, whatever its length", () => {
    const get = (_: unknown, key: string | symbol): unknown => {
      if (typeof key === "string" && /^\d+$/.test(key)) throw new Error("an item was looked at");
      return key === "length" ? 250_000 : Reflect.get([], key);
    };
    const role = { ...create(RoleSchema, { name: "auditor" }), permissions: new Proxy<string[]>([], { get }) };
    expect(thrownBy(() => validateMessage(RoleSchema, role)).violations).toMatchObject([{ field: "permissions" }]);
  });
});

/** Yields the lists and maps of the messages that clients send, other than those that only the service sets. */
function* fieldsOfRequests(): Generator<DescField> {
  const seen = new Set<DescMessage>();
  const open = services.flatMap(({ methods }) => methods.map(({ input }) => input));
  for (let message = open.pop(); message !== undefined; message = open.pop()) {
    if (seen.has(message) || message.file.proto.package === "google.protobuf") continue;
    seen.add(message);
    for (const field of message.fields) {
      if (getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY)) continue;
      if (field.fieldKind === "list" || field.fieldKind === "map") yield field;
      if (field.message !== undefined) open.push(field.message);
    }
  }
}

test("all lists and maps of requests have a limit", () => {
  const fields = [...fieldsOfRequests()];
  const isLimited = ({ parent, name }: DescField): boolean => limitedFieldsOf(parent).has(name);
  expect(fields.filter((field) => !isLimited(field)).map(({ parent, name }) => `${parent.typeName}.${name}`)).toEqual(
    [],
  );
  expect(fields.length).toBeGreaterThan(50);
});

// src/rpc/unary/binary-item-check.ts looks into no value of a map.
test("no map of requests holds messages with lists or maps", () => {
  const held = [...fieldsOfRequests()].flatMap(({ fieldKind, message }) =>
    fieldKind === "map" ? (message ?? []) : [],
  );
  const own = held.filter(({ file }) => file.proto.package !== "google.protobuf");
  const holders = own.filter(({ fields }) =>
    fields.some(({ fieldKind }) => fieldKind === "list" || fieldKind === "map"),
  );
  expect(holders.map(({ typeName }) => typeName)).toEqual([]);
});

describe("a batch", () => {
  const batchOf = (names: readonly string[]) =>
    create(BatchCreateMembersRequestSchema, {
      parentPath: "orgs/acme",
      requests: names.map((name) => (name === "" ? {} : { member: { name } })),
    });
  const validate = (names: readonly string[]) => {
    const steps = startValidation(BatchCreateMembersRequestSchema, batchOf(names));
    let count = 0;
    const outcome = outcomeOf(() => {
      while (steps?.next().done === false) count++;
    });
    return { count, fields: outcome?.violations.map(({ field, rule }) => `${field} ${rule}`) };
  };
  const good = Array.from({ length: 200 }, (_, index) => `member-${index}`);

  test("that is short is validated at once", () => {
    expect(startValidation(BatchCreateMembersRequestSchema, batchOf(["a", "b"]))).toBeUndefined();
    expect(() => startValidation(BatchCreateMembersRequestSchema, batchOf(["a", "No"]))).toThrow(
      "requests[1].member.name",
    );
  });

  test("that is long is validated in steps, with the violations that it has as a whole", () => {
    expect(validate(good)).toEqual({ count: 0, fields: undefined });
    const names = good.with(3, "No").with(150, "").with(199, "Nor this");
    const whole = outcomeOf(() => validateMessage(BatchCreateMembersRequestSchema, batchOf(names)));
    const { count, fields } = validate(names);
    expect(count).toBe(200);
    expect(fields).toEqual(whole?.violations.map(({ field, rule }) => `${field} ${rule}`));
    expect(fields).toHaveLength(3);
  });

  test("is not validated further than the violations that are told", () => {
    const { count, fields } = validate(Array.from({ length: 1000 }, () => "No"));
    expect(fields?.at(-1)).toBe("requests[99].member.name name.format");
    expect([count, fields?.length]).toEqual([100, 100]);
  });

  test("that is too long is refused without a look at its items", () => {
    const names = Array.from({ length: 1001 }, () => "No");
    const message = batchOf(names);
    const all = outcomeOf(() => validateMessage(BatchCreateMembersRequestSchema, batchOf(names.fill("a"))));
    const { violations: told } = thrownBy(() => startValidation(BatchCreateMembersRequestSchema, message));
    expect(told).toEqual(all?.violations);
    expect(told).toHaveLength(1);
  });
});
