import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateGroupMemberRequestSchema,
  CreateSubgroupRequestSchema,
} from "../../../gen/iam/v1alpha/group_member_pb.ts";
import type { CreateGroupRequestSchema } from "../../../gen/iam/v1alpha/group_pb.ts";
import type { CreateMemberRequestSchema } from "../../../gen/iam/v1alpha/member_pb.ts";
import type { CreateOrgRequestSchema } from "../../../gen/iam/v1alpha/org_pb.ts";
import type { CreateProjectRequestSchema } from "../../../gen/iam/v1alpha/project_pb.ts";
import type { CreateRoleBindingRequestSchema } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import type { CreateRoleRequestSchema } from "../../../gen/iam/v1alpha/role_pb.ts";
import type { Clients } from "../calls/create-clients.ts";

/** The kinds of resources that an import creates, in order: each depends only on earlier kinds. */
export const kinds = ["org", "member", "group", "project", "subgroup", "membership", "role", "role binding"] as const;

export type Kind = (typeof kinds)[number];

interface Requests extends Record<Kind, DescMessage> {
  readonly org: typeof CreateOrgRequestSchema;
  readonly member: typeof CreateMemberRequestSchema;
  readonly group: typeof CreateGroupRequestSchema;
  readonly project: typeof CreateProjectRequestSchema;
  readonly subgroup: typeof CreateSubgroupRequestSchema;
  readonly membership: typeof CreateGroupMemberRequestSchema;
  readonly role: typeof CreateRoleRequestSchema;
  readonly "role binding": typeof CreateRoleBindingRequestSchema;
}

type RequestOf<K extends Kind> = MessageInitShape<Requests[K]>;

interface CreationOf<K extends Kind> {
  readonly kind: K;
  readonly path: string;
  readonly request: RequestOf<K>;
}

/** A resource that should exist, and the request that creates it. */
export type Creation = { [K in Kind]: CreationOf<K> }[Kind];

/**
 * The parent of a batch with what a request creates, and with what others create in other groups or projects of the org:
 * `/orgs/acme/groups/-`. Undefined for orgs, which have none.
 */
export function batchParentOf({ request }: Pick<Creation, "request">): string | undefined {
  if (!("parentPath" in request)) return undefined;
  return request.parentPath?.replace(/^(\/orgs\/[^/]+\/[^/]+)\/[^/]+$/, "$1/-");
}

interface Sender<K extends Kind> {
  one(clients: Clients, request: RequestOf<K>): Promise<unknown>;
  /** Creates resources in a parent, or in several that it stands for: all or none. */
  all(clients: Clients, parentPath: string, requests: RequestOf<K>[]): Promise<unknown>;
}

const senders: { readonly [K in Kind]: Sender<K> } = {
  org: {
    one: ({ orgs }, request) => orgs.createOrg(request),
    all: ({ orgs }, _parentPath, requests) => orgs.batchCreateOrgs({ requests }),
  },
  member: {
    one: ({ members }, request) => members.createMember(request),
    all: ({ members }, parentPath, requests) => members.batchCreateMembers({ parentPath, requests }),
  },
  group: {
    one: ({ groups }, request) => groups.createGroup(request),
    all: ({ groups }, parentPath, requests) => groups.batchCreateGroups({ parentPath, requests }),
  },
  project: {
    one: ({ projects }, request) => projects.createProject(request),
    all: ({ projects }, parentPath, requests) => projects.batchCreateProjects({ parentPath, requests }),
  },
  subgroup: {
    one: ({ groupMembers }, request) => groupMembers.createSubgroup(request),
    all: ({ groupMembers }, parentPath, requests) => groupMembers.batchCreateSubgroups({ parentPath, requests }),
  },
  membership: {
    one: ({ groupMembers }, request) => groupMembers.createGroupMember(request),
    all: ({ groupMembers }, parentPath, requests) => groupMembers.batchCreateGroupMembers({ parentPath, requests }),
  },
  role: {
    one: ({ roles }, request) => roles.createRole(request),
    all: ({ roles }, parentPath, requests) => roles.batchCreateRoles({ parentPath, requests }),
  },
  "role binding": {
    one: ({ roleBindings }, request) => roleBindings.createRoleBinding(request),
    all: ({ roleBindings }, parentPath, requests) => roleBindings.batchCreateRoleBindings({ parentPath, requests }),
  },
};

export async function sendCreation<K extends Kind>(clients: Clients, creation: CreationOf<K>): Promise<void> {
  await senders[creation.kind].one(clients, creation.request);
}

/** @param batch resources of one kind whose batches have the same parent. All are created, or none. */
export async function sendBatch<K extends Kind>(
  clients: Clients,
  batch: readonly [CreationOf<K>, ...CreationOf<K>[]],
): Promise<void> {
  const [{ kind, request }] = batch;
  const requests = batch.map((creation) => creation.request);
  await senders[kind].all(clients, batchParentOf({ request }) ?? "", requests);
}
