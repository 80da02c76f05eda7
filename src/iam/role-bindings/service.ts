import type { ServiceImpl } from "@connectrpc/connect";
import { RoleBindingsService } from "../../../gen/iam/v1alpha/role_binding_pb.ts";
import { completeService, createPlacedHandlers } from "../../standard-methods/standard-service.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { roleBindingDefinition } from "./definition.ts";
import { createRoleBindingRules } from "./role-binding-rules.ts";

export function createRoleBindingsService(dependencies: RoleDependencies): ServiceImpl<typeof RoleBindingsService> {
  const places = createRoleBindingRules(dependencies);
  return completeService(
    RoleBindingsService,
    createPlacedHandlers(RoleBindingsService, dependencies, roleBindingDefinition, places),
  );
}
