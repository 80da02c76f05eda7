// Checks that the protos follow the forms of the standard methods, and that each kind of difference is reported in a
// modified copy.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Difference, checkForms, formatDifference } from "../../scripts/proto-forms/check-forms.ts";
import { buildImage } from "../../scripts/proto-forms/image.ts";

const root = resolve(import.meta.dirname, "../..");

/** A change of a proto: replaces the first `from` after `behind`. */
interface Edit {
  readonly file: string;
  readonly behind: string;
  readonly from: string;
  readonly to: string;
}

interface Case extends Edit, Pick<Difference, "where" | "what" | "expected" | "found"> {
  readonly name: string;
}

/** Each case changes another declaration, so that one copy of the protos can contain all of them. */
const cases: readonly Case[] = [
  {
    name: "a field's comment with different words",
    file: "project",
    behind: "message ListProjectsRequest {",
    from: "The maximum number of Projects to return.",
    to: "The size of a page.",
    where: "ListProjectsRequest.page_size",
    what: "comment",
    expected: "The maximum number of Projects to return. Defaults to 50; values above 1000 are treated as 1000.",
    found: "The size of a page. Defaults to 50; values above 1000 are treated as 1000.",
  },
  {
    name: "a field's comment with the name of another resource",
    file: "group",
    behind: "message UpdateGroupRequest {",
    from: "to create the Group",
    to: "to create the Project",
    where: "UpdateGroupRequest.allow_missing",
    what: "comment",
    expected:
      "Whether to create the Group if it does not exist, with the name in `path`. Creating it also requires the permission `iam.groups.create`.",
    found:
      "Whether to create the Project if it does not exist, with the name in `path`. Creating it also requires the permission `iam.groups.create`.",
  },
  {
    name: "a field without a comment",
    file: "role_binding",
    behind: "message ListRoleBindingsResponse {",
    from: "  // The `page_token` for the next page; empty on the last page.\n",
    to: "",
    where: "ListRoleBindingsResponse.next_page_token",
    what: "comment",
    expected: "The `page_token` for the next page; empty on the last page.",
    found: "nothing",
  },
  {
    name: "a trailing comment of a field",
    file: "member",
    behind: "message SuspendMemberRequest {",
    from: "string etag = 2 [(google.api.field_behavior) = OPTIONAL];",
    to: "string etag = 2 [(google.api.field_behavior) = OPTIONAL]; // Optional.",
    where: "SuspendMemberRequest.etag",
    what: "comment",
    expected: "If set, the request fails with ABORTED unless this is the Member's current etag.",
    found: "If set, the request fails with ABORTED unless this is the Member's current etag. Optional.",
  },
  {
    name: "an example that differs from that of the resource",
    file: "api_key",
    behind: "message BatchDeleteApiKeysRequest {",
    from: "members/deployer/apiKeys/ci",
    to: "members/alice/apiKeys/ci",
    where: "BatchDeleteApiKeysRequest.paths",
    what: "comment",
    expected:
      "The API keys, for example `orgs/acme/members/deployer/apiKeys/ci`; at most 1000, all below `parent_path`.",
    found: "The API keys, for example `orgs/acme/members/alice/apiKeys/ci`; at most 1000, all below `parent_path`.",
  },
  {
    name: "a message's comment with different words",
    file: "member",
    behind: "message ListMembersRequest {",
    from: "// A page of Members.",
    to: "// Members.",
    where: "ListMembersResponse",
    what: "comment",
    expected: "A page of Members.",
    found: "Members.",
  },
  {
    name: "a method's comment with different words",
    file: "group",
    behind: "service GroupsService {",
    from: "// Returns several Groups in the order of `paths`.",
    to: "// Returns several Groups.",
    where: "BatchGetGroups",
    what: "comment",
    expected: "Returns several Groups in the order of `paths`. Fails with NOT_FOUND if any of them does not exist.",
    found: "Returns several Groups. Fails with NOT_FOUND if any of them does not exist.",
  },
  {
    name: "a field with another number",
    file: "group",
    behind: "message CreateGroupRequest {",
    from: "bool validate_only = 3 [",
    to: "bool validate_only = 9 [",
    where: "CreateGroupRequest.validate_only",
    what: "number",
    expected: "3",
    found: "9",
  },
  {
    name: "a field with another type",
    file: "org",
    behind: "message SuspendOrgRequest {",
    from: "string etag = 2 [",
    to: "bytes etag = 2 [",
    where: "SuspendOrgRequest.etag",
    what: "type",
    expected: "string",
    found: "bytes",
  },
  {
    name: "a field with explicit presence",
    file: "member",
    behind: "message DeleteMemberRequest {",
    from: "bool allow_missing = 3 [",
    to: "optional bool allow_missing = 3 [",
    where: "DeleteMemberRequest.allow_missing",
    what: "type",
    expected: "bool",
    found: "optional bool",
  },
  {
    name: "a list that is not repeated",
    file: "group",
    behind: "message BatchGetGroupsResponse {",
    from: "repeated Group groups = 1;",
    to: "Group groups = 1;",
    where: "BatchGetGroupsResponse.groups",
    what: "type",
    expected: "repeated iam.v1alpha.Group",
    found: "iam.v1alpha.Group",
  },
  {
    name: "a field with another name in JSON",
    file: "role",
    behind: "message ListRolesRequest {",
    from: "string order_by = 5 [",
    to: 'string order_by = 5 [json_name = "sort", ',
    where: "ListRolesRequest.order_by",
    what: "name in JSON",
    expected: "orderBy",
    found: "sort",
  },
  {
    name: "a field with another constraint",
    file: "member",
    behind: "message BatchGetMembersRequest {",
    from: "max_items = 1000",
    to: "max_items = 100",
    where: "BatchGetMembersRequest.paths",
    what: "[buf.validate.field]",
    expected: '{"repeated":{"max_items":"1000"}}',
    found: '{"repeated":{"max_items":"100"}}',
  },
  {
    name: "a field with another behaviour",
    file: "member",
    behind: "message UndeleteMemberRequest {",
    from: "= REQUIRED",
    to: "= OPTIONAL",
    where: "UndeleteMemberRequest.path",
    what: "[google.api.field_behavior]",
    expected: '["REQUIRED"]',
    found: '["OPTIONAL"]',
  },
  {
    name: "a field that refers to another resource",
    file: "member",
    behind: "message GetMemberRequest {",
    from: 'dev/Member"',
    to: 'dev/Group"',
    where: "GetMemberRequest.path",
    what: "[google.api.resource_reference]",
    expected: '{"type":"iam.tenantry.dev/Member"}',
    found: '{"type":"iam.tenantry.dev/Group"}',
  },
  {
    name: "a field with an option that the form lacks",
    file: "api_key",
    behind: "message UpdateApiKeyRequest {",
    from: "update_mask = 3 [",
    to: "update_mask = 3 [deprecated = true, ",
    where: "UpdateApiKeyRequest.update_mask",
    what: "deprecated",
    expected: "nothing",
    found: "true",
  },
  {
    name: "a message with an option that the form lacks",
    file: "org",
    behind: "message GetOrgRequest {",
    from: "\n",
    to: "\n  option deprecated = true;\n",
    where: "GetOrgRequest",
    what: "deprecated",
    expected: "nothing",
    found: "true",
  },
  {
    name: "a field with another name",
    file: "project",
    behind: "message PurgeProjectRequest {",
    from: "string etag = 2 [",
    to: "string tag = 2 [",
    where: "PurgeProjectRequest",
    what: "fields",
    expected: "path, etag, validate_only, request_id",
    found: "path, tag, validate_only, request_id",
  },
  {
    name: "a missing field",
    file: "project",
    behind: "message ListProjectsResponse {",
    from: "  // The `page_token` for the next page; empty on the last page.\n  string next_page_token = 2;\n",
    to: "",
    where: "ListProjectsResponse",
    what: "fields",
    expected: "projects, next_page_token, total_size, revision",
    found: "projects, total_size, revision",
  },
  {
    name: "a field of other resources",
    file: "group",
    behind: "message ListGroupsRequest {",
    from: "  // The fields to sort by",
    to: "  // Whether to include deleted Groups.\n  bool show_deleted = 9 [(google.api.field_behavior) = OPTIONAL];\n\n  // The fields to sort by",
    where: "ListGroupsRequest",
    what: "fields",
    expected: "parent_path, page_size, page_token, filter, order_by, as_of_revision, as_of_time",
    found: "parent_path, page_size, page_token, filter, show_deleted, order_by, as_of_revision, as_of_time",
  },
  {
    name: "fields in another order",
    file: "org",
    behind: "message ListOrgsResponse {",
    from: "  // The Orgs.\n  repeated Org orgs = 1;\n\n  // The `page_token` for the next page; empty on the last page.\n  string next_page_token = 2;\n",
    to: "  // The `page_token` for the next page; empty on the last page.\n  string next_page_token = 2;\n\n  // The Orgs.\n  repeated Org orgs = 1;\n",
    where: "ListOrgsResponse",
    what: "fields",
    expected: "orgs, next_page_token",
    found: "next_page_token, orgs",
  },
  {
    name: "another URL",
    file: "project",
    behind: "service ProjectsService {",
    from: "{path=orgs/*/projects/*}:suspend",
    to: "{path=orgs/*/projects/*}:stop",
    where: "SuspendProject",
    what: "[google.api.http]",
    expected: '{"post":"/iam/v1alpha/{path=orgs/*/projects/*}:suspend","body":"*"}',
    found: '{"post":"/iam/v1alpha/{path=orgs/*/projects/*}:stop","body":"*"}',
  },
  {
    name: "another HTTP method",
    file: "project",
    behind: "rpc UpdateProject(",
    from: "patch:",
    to: "put:",
    where: "UpdateProject",
    what: "[google.api.http]",
    expected: '{"patch":"/iam/v1alpha/{path=orgs/*/projects/*}","body":"project"}',
    found: '{"put":"/iam/v1alpha/{path=orgs/*/projects/*}","body":"project"}',
  },
  {
    name: "another body",
    file: "api_key",
    behind: "service ApiKeysService {",
    from: 'body: "api_key"',
    to: 'body: "*"',
    where: "CreateApiKey",
    what: "[google.api.http]",
    expected: '{"post":"/iam/v1alpha/{parent_path=orgs/*/members/*}/apiKeys","body":"api_key"}',
    found: '{"post":"/iam/v1alpha/{parent_path=orgs/*/members/*}/apiKeys","body":"*"}',
  },
  {
    name: "a pattern without a URL",
    file: "role",
    behind: "service RolesService {",
    from: '      additional_bindings: {get: "/iam/v1alpha/roles"}\n',
    to: "",
    where: "ListRoles",
    what: "[google.api.http]",
    expected: '{"get":"/iam/v1alpha/{parent_path=orgs/*}/roles","additional_bindings":[{"get":"/iam/v1alpha/roles"}]}',
    found: '{"get":"/iam/v1alpha/{parent_path=orgs/*}/roles"}',
  },
  {
    name: "another permission",
    file: "group",
    behind: "service GroupsService {",
    from: "iam.groups.delete",
    to: "iam.groups.remove",
    where: "DeleteGroup",
    what: "[iam.v1alpha.authorization]",
    expected: '{"permission":"iam.groups.delete","path_field":"path"}',
    found: '{"permission":"iam.groups.remove","path_field":"path"}',
  },
  {
    name: "another response",
    file: "group_member",
    behind: "service GroupMembersService {",
    from: "rpc UpdateSubgroup(UpdateSubgroupRequest) returns (Subgroup)",
    to: "rpc UpdateSubgroup(UpdateSubgroupRequest) returns (DeleteResponse)",
    where: "UpdateSubgroup",
    what: "response",
    expected: "iam.v1alpha.Subgroup",
    found: "iam.v1alpha.DeleteResponse",
  },
  {
    name: "the request of another method",
    file: "org",
    behind: "service OrgsService {",
    from: "rpc ActivateOrg(ActivateOrgRequest)",
    to: "rpc ActivateOrg(PurgeOrgRequest)",
    where: "ActivateOrg",
    what: "request",
    expected: "iam.v1alpha.ActivateOrgRequest",
    found: "iam.v1alpha.PurgeOrgRequest",
  },
  {
    name: "a stream",
    file: "role",
    behind: "service RolesService {",
    from: "rpc GetRole(GetRoleRequest) returns (Role)",
    to: "rpc GetRole(GetRoleRequest) returns (stream Role)",
    where: "GetRole",
    what: "kind",
    expected: "unary",
    found: "server_streaming",
  },
  {
    name: "a missing method",
    file: "group_member",
    behind: "service GroupMembersService {",
    from: "rpc BatchDeleteSubgroups(",
    to: "rpc DropSubgroups(",
    where: "Subgroup",
    what: "method",
    expected: "BatchDeleteSubgroups",
    found: "nothing",
  },
  {
    name: "a method that the resource must not have",
    file: "group",
    behind: "service GroupsService {",
    from: "\n",
    to: "\n  // Suspends a Group.\n  rpc SuspendGroup(GetGroupRequest) returns (Group);\n",
    where: "SuspendGroup",
    what: "method",
    expected: "nothing",
    found: "SuspendGroup",
  },
  {
    name: "a resource without an example of its path",
    file: "customer",
    behind: "message Customer {",
    from: "`/customers/acme`",
    to: "`/clients/acme`",
    where: "Customer.path",
    what: "example in the comment",
    expected: "/customers/{customer}",
    found: "nothing",
  },
];

/** Differences in the parts of comments that the forms leave to the resource. */
const ownWords: readonly Edit[] = [
  { file: "member", behind: "message ListMembersRequest {", from: "`type = APPLICATION AND", to: "`type = USER AND" },
  { file: "member", behind: "service MembersService {", from: "can be read by its id", to: "stays readable by its id" },
  { file: "group_member", behind: "service GroupMembersService {", from: "Adds a Member to", to: "Puts a Member into" },
];

let directory: string;
let differences: readonly Difference[];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tenantry-proto-forms-"));
  for (const name of ["proto", "buf.yaml"]) cpSync(join(root, name), join(directory, name), { recursive: true });
  for (const name of ["node_modules", "test"]) symlinkSync(join(root, name), join(directory, name));
  for (const each of [...cases, ...ownWords]) apply(each);
  differences = checkForms(buildImage(directory));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function pathOf({ file }: Edit): string {
  return `proto/iam/v1alpha/${file}.proto`;
}

function apply(edit: Edit): void {
  const path = join(directory, pathOf(edit));
  const text = readFileSync(path, "utf8");
  const start = text.indexOf(edit.from, text.indexOf(edit.behind) + edit.behind.length);
  if (!text.includes(edit.behind) || start === -1) throw new Error(`${edit.file} has no ${edit.from}`);
  writeFileSync(path, text.slice(0, start) + edit.to + text.slice(start + edit.from.length));
}

/** Returns the line of a declaration such as `GetMember`, `GetMemberRequest` or `GetMemberRequest.path`. */
function lineOf(edit: Edit, where: string): number {
  const lines = readFileSync(join(directory, pathOf(edit)), "utf8").split("\n");
  const [name, field] = where.split(".");
  const start = lines.findIndex((line) => line.startsWith(`message ${name} {`) || line.startsWith(`  rpc ${name}(`));
  if (field === undefined) return start + 1;
  return start + 1 + lines.slice(start).findIndex((line) => line.includes(` ${field} = `));
}

test("the protos follow the forms", () => {
  expect(checkForms(buildImage()).map(formatDifference)).toEqual([]);
});

describe("reports", () => {
  test.each(cases)("$name", ({ where, what, expected, found, ...edit }) => {
    const line = lineOf(edit, where);
    expect(differences).toContainEqual({ file: pathOf(edit), line, where, what, expected, found });
  });

  test("nothing else, in particular no wording specific to a resource", () => {
    const named = cases.map(({ where, what }) => `${where}: ${what}`);
    expect(differences.map(({ where, what }) => `${where}: ${what}`).toSorted()).toEqual(named.toSorted());
  });
});

test("reports the location, what is expected and what is found", () => {
  const difference: Difference = {
    file: "proto/iam/v1alpha/member.proto",
    line: 12,
    where: "GetMemberRequest.path",
    what: "type",
    expected: "string",
    found: "bytes",
  };
  expect(formatDifference(difference)).toBe(
    `proto/iam/v1alpha/member.proto:12: GetMemberRequest.path: type
  expected: string
  found:    bytes`,
  );
});
