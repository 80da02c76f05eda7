import { create } from "@bufbuild/protobuf";
import { type Finding, FindingSchema, Finding_Kind } from "../../../gen/iam/v1alpha/finding_pb.ts";
import { toTimestamp } from "../../standard-methods/to-timestamp.ts";
import type { FindingColumns, FindingKind, FindingsQuestion } from "./finding-source.ts";

interface Wording {
  readonly describe: (finding: FindingColumns, question: Pick<FindingsQuestion, "unusedDays">) => string;
  /** The method that mends it, and what its request over REST begins and ends with. */
  readonly method: string;
  readonly http: readonly [verb: string, suffix: string];
  /** What must be set in it besides its path. */
  readonly fields?: readonly string[];
}

const inDays = ({ unusedDays }: Pick<FindingsQuestion, "unusedDays">): string =>
  unusedDays === 1 ? "in the last 24 hours" : `in the last ${unusedDays} days`;

const deletes = ["DELETE", ""] as const;

const wordings: Readonly<Record<FindingKind, Wording>> = {
  API_KEY_WITHOUT_END: {
    describe: () => "The API key never expires.",
    method: "iam.v1alpha.ApiKeysService/RotateApiKey",
    http: ["POST", ":rotate"],
    fields: ["name", "expire_time"],
  },
  API_KEY_UNUSED: {
    describe: (_, question) => `The API key was not used ${inDays(question)}.`,
    method: "iam.v1alpha.ApiKeysService/DeleteApiKey",
    http: deletes,
  },
  MEMBER_UNUSED: {
    describe: (_, question) =>
      `The Member neither signed in nor used an API key, and no check allowed it anything ${inDays(question)}.`,
    method: "iam.v1alpha.MembersService/SuspendMember",
    http: ["POST", ":suspend"],
  },
  ROLE_BINDING_CONTAINED: {
    describe: ({ related_path: relatedPath }) =>
      `The RoleBinding gives nothing that ${relatedPath} does not give as well.`,
    method: "iam.v1alpha.RoleBindingsService/DeleteRoleBinding",
    http: deletes,
  },
  GROUP_WITHOUT_MEMBERS: {
    describe: () => "The Group has RoleBindings and no Members.",
    method: "iam.v1alpha.GroupsService/DeleteGroup",
    http: deletes,
  },
  ROLE_BINDING_UNUSED: {
    describe: (_, question) => `No permitted call needed the RoleBinding ${inDays(question)}.`,
    method: "iam.v1alpha.RoleBindingsService/DeleteRoleBinding",
    http: deletes,
  },
  GROUP_MEMBER_UNUSED: {
    describe: (_, question) =>
      `No permitted call of the Member needed its membership in the Group ${inDays(question)}.`,
    method: "iam.v1alpha.GroupMembersService/DeleteGroupMember",
    http: deletes,
  },
  SUBGROUP_UNUSED: {
    describe: (_, question) =>
      `No permitted call of a Member of the Subgroup needed that it is in the Group ${inDays(question)}.`,
    method: "iam.v1alpha.GroupMembersService/DeleteSubgroup",
    http: deletes,
  },
  ROLE_PERMISSION_UNUSED: {
    describe: ({ permissions }, question) => {
      const count = permissions?.length ?? 0;
      const some = count === 1 ? "a permission" : `${count} permissions`;
      return `No permitted call needed ${some} of the Role ${inDays(question)}.`;
    },
    method: "iam.v1alpha.RolesService/UpdateRole",
    http: ["PATCH", ""],
    fields: ["permissions"],
  },
  CLIENT_UNUSED: {
    describe: (_, question) => `The Client got no token ${inDays(question)}.`,
    method: "iam.v1alpha.ClientsService/DeleteClient",
    http: deletes,
  },
  ROLE_UNBOUND: {
    describe: () => "No RoleBinding grants the Role.",
    method: "iam.v1alpha.RolesService/DeleteRole",
    http: deletes,
  },
};

export function toFinding(finding: FindingColumns, question: Pick<FindingsQuestion, "unusedDays">): Finding {
  const { kind, resource_path: resourcePath, related_path: relatedPath, since_time: sinceTime, permissions } = finding;
  const { describe, method, http, fields = [] } = wordings[kind];
  const [verb, suffix] = http;
  return create(FindingSchema, {
    kind: Finding_Kind[kind],
    resourcePath,
    description: describe(finding, question),
    sinceTime: toTimestamp(sinceTime),
    relatedPath,
    permissions: [...(permissions ?? [])],
    remedy: {
      method,
      path: resourcePath,
      fields: [...fields],
      httpRequest: `${verb} /iam/v1alpha${resourcePath}${suffix}`,
    },
  });
}
