// Tests that the log shows what it keeps of each resource: every type, and entries that are older than columns.
import { describe, expect, test } from "vitest";
import { changedFields, createLoggedMessage } from "../../src/events/changes/logged-messages.ts";
import { registry } from "../../src/resource-registry.ts";

const loggedMessage = createLoggedMessage(registry);
const [orgId, memberId, id] = [1, 2, 3].map((digit) => `01980f5e-7c1a-7b3e-9c55-00000000000${digit}`);

describe.each(registry.definitions.map((definition) => [definition.type, definition] as const))(
  "a %s",
  (type, { storage }) => {
    test("of an entry that is older than most columns has its path, and what is known", () => {
      const columns = { org_id: orgId, [storage.id]: id, ...(storage.columns.includes("name") && { name: "one" }) };
      const shown = loggedMessage(type, columns, "/where/it-was");
      expect(shown).toMatchObject({ path: "/where/it-was" });
      if ("name" in columns && shown["id"] !== undefined) expect(shown).toMatchObject({ id, name: "one" });
    });
  },
);

test("a resource is shown as a Get shows it, with ids in the paths of others", () => {
  const columns = {
    org_id: orgId,
    member_id: memberId,
    id,
    name: "ci",
    display_name: "",
    description: "",
    labels: { team: "a" },
    prefix: "key_abc",
    scopes: ["iam.*"],
    rotated_from_id: id,
    expire_time: "2030-01-01T00:00:00.000Z",
    create_time: "2029-01-01T00:00:00.000Z",
    changed_revision: "00000000-0000-0002-8000-000000000000",
    unknown_to_this_version: 1,
  };
  expect(loggedMessage("ApiKey", columns, "/orgs/acme/members/alice/apiKeys/ci")).toMatchObject({
    path: "/orgs/acme/members/alice/apiKeys/ci",
    id,
    name: "ci",
    labels: { team: "a" },
    scopes: ["iam.*"],
    rotated_from_path: `/orgs/@${orgId}/members/@${memberId}/apiKeys/@${id}`,
    expire_time: "2030-01-01T00:00:00Z",
  });
});

test("what has no definition is shown, too, and a type of another version by its path", () => {
  expect(loggedMessage("Quota", { limits: { cpu: 4 } }, "/orgs/acme/quota")).toEqual({
    path: "/orgs/acme/quota",
    limits: { cpu: 4 },
  });
  const token = { member_id: memberId, expire_time: "2030-01-01T00:00:00.000Z" };
  expect(loggedMessage("Token", token, "/x")).toEqual({ path: "/x", expire_time: "2030-01-01T00:00:00.000Z" });
  expect(loggedMessage("Gadget", { id }, "/gadgets/one")).toEqual({ path: "/gadgets/one" });
});

test("the fields that differ are named, without those that always do", () => {
  const before = { name: "a", labels: { x: "1" }, etag: "1", update_time: "1", same: [1] };
  const after = { name: "b", etag: "2", update_time: "2", same: [1], added: true };
  expect(changedFields(before, after)).toEqual(["name", "added", "labels"]);
});
