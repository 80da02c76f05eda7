import { type Client, type Interceptor, type Transport, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { GroupMembersService } from "../../../gen/iam/v1alpha/group_member_pb.ts";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { RoleBindingsService } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import type { Retry } from "./retry.ts";

export interface Clients {
  readonly orgs: Client<typeof OrgsService>;
  readonly members: Client<typeof MembersService>;
  readonly groups: Client<typeof GroupsService>;
  readonly groupMembers: Client<typeof GroupMembersService>;
  readonly projects: Client<typeof ProjectsService>;
  readonly roles: Client<typeof RolesService>;
  readonly roleBindings: Client<typeof RoleBindingsService>;
}

const callTimeoutMs = 30_000;

export function createClients(url: string, apiKey: string, retry: Retry): Clients {
  const transport = withRetry(
    createConnectTransport({
      baseUrl: url,
      httpVersion: "1.1",
      // Costs less than JSON, here and in the service.
      useBinaryFormat: true,
      defaultTimeoutMs: callTimeoutMs,
      interceptors: [withBearer(apiKey)],
    }),
    retry,
  );
  return {
    orgs: createClient(OrgsService, transport),
    members: createClient(MembersService, transport),
    groups: createClient(GroupsService, transport),
    groupMembers: createClient(GroupMembersService, transport),
    projects: createClient(ProjectsService, transport),
    roles: createClient(RolesService, transport),
    roleBindings: createClient(RoleBindingsService, transport),
  };
}

/** Wraps the transport and is not an interceptor, so that each attempt has its own deadline. */
function withRetry(transport: Transport, retry: Retry): Transport {
  return { ...transport, unary: (...call) => retry(() => transport.unary(...call)) };
}

function withBearer(apiKey: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
}
