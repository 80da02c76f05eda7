import { getOption } from "@bufbuild/protobuf";
import { type Authorization, authorization } from "../../../gen/iam/v1alpha/authorization_pb.ts";
import { required } from "../../errors/required.ts";
import { methodNouns } from "../../paths/patterns.ts";
import type { ResourceDefinition } from "./definition.ts";

/** Returns the permission to get a resource. */
export function permissionToGet(definition: ResourceDefinition): string {
  return authorizationOf(definition, "Get").permission;
}

/** Returns the additional permission to change the name of a resource; empty if there is none. */
export function permissionToRename(definition: ResourceDefinition): string {
  return authorizationOf(definition, "Update").renamePermission;
}

function authorizationOf({ service, type }: ResourceDefinition, verb: string): Authorization {
  const name = `${verb}${methodNouns(type).one}`;
  return getOption(required(service.methods.find((method) => method.name === name)), authorization);
}
