import { expect, test } from "vitest";
import { readQuery } from "../../src/search/read-query.ts";

const id = "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b";
const path = ["orgs", "acme", "members", "alice"];

test.each([
  ["/orgs/acme/members/alice", path],
  ["orgs/acme/members/alice", path],
  [" /orgs/acme/members/alice ", path],
  ["https://iam.example.com/iam/v1alpha/orgs/acme/members/alice?view=FULL", path],
  ["http://localhost:8080/console/orgs/acme/members/alice#keys", path],
  ["/console/orgs/acme/members/alice", path],
  ["/resources/v1alpha/orgs/acme/projects/web/resources/db", ["orgs", "acme", "projects", "web", "resources", "db"]],
  ["orgs/@01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b", ["orgs", `@${id}`]],
  ["orgs/acme/members", undefined],
  ["orgs/acme/members/", undefined],
  ["orgs/acme; drop table", undefined],
  ["alice", undefined],
  ["", undefined],
])("%j is the path %j", (text, segments) => {
  expect(readQuery(text).path).toEqual(segments);
});

test.each([
  [id, id],
  [`@${id}`, id],
  [id.toUpperCase(), id],
  [`${id}0`, undefined],
])("%j is the id %j", (text, found) => {
  expect(readQuery(text).id).toBe(found);
});

test.each([
  ["Web Shop", "web-shop", ["Web Shop"]],
  ["web_s", "web-s", ["web_s", "Web_s"]],
  ["äpfel", undefined, ["äpfel", "Äpfel"]],
  ["42", "42", ["42"]],
  ["-x", undefined, ["-x"]],
  ["a".repeat(65), undefined, ["a".repeat(65), `A${"a".repeat(64)}`]],
  ["  ", undefined, []],
  ["😀".repeat(512), undefined, ["😀".repeat(512)]],
  ['"'.repeat(513), undefined, []],
])("%j is the start of the name %j and of the display names %j", (text, name, displayNames) => {
  expect(readQuery(text)).toMatchObject({ name, displayNames });
});

test("of a key only the prefix is read, wherever in a text it is", () => {
  const prefix = "tenantry_0123456789Ab";
  const found = { path: undefined, id: undefined, keyPrefix: prefix, name: undefined, displayNames: [] };
  const secret = `${prefix}${"x".repeat(38)}`;
  const inTexts = [
    `TENANTRY_API_KEY=${secret}`,
    `tenantry_api_key: "${secret}"`,
    `Authorization: Bearer ${secret}`,
    `'${secret}'`,
  ];
  for (const text of [prefix, `${prefix}…`, secret, ...inTexts]) expect(readQuery(text)).toEqual(found);
  expect(readQuery("tenantry_0123").keyPrefix).toBeUndefined();
});
