// Permissions of this service that a file names and that there are not: the methods that write roles and clients refuse them.
import { type Message, isMessage } from "@bufbuild/protobuf";
import { ClientSchema } from "../../gen/iam/v1alpha/client_pb.ts";
import { RoleSchema } from "../../gen/iam/v1alpha/role_pb.ts";
import { type FieldViolation, invalidFields } from "../errors/service-error.ts";
import { findUnknownPermission } from "../iam/roles/find-unknown-permission.ts";
import { type Steps, createStepCounter } from "../scheduling/steps.ts";
import { maxViolations } from "../validation/validate-message.ts";
import type { Plan } from "./plan-changes.ts";
import type { OrgState } from "./read-state.ts";

/**
 * Checks what changes add to roles and clients, so that no plan shows what its apply refuses. What is there already may be of a newer version.
 *
 * @param known all permissions of this service.
 * @throws ServiceError FIELD_INVALID
 */
export function* requireKnownPermissions(
  { resources }: OrgState,
  { changes }: Plan,
  known: readonly string[],
): Steps<void> {
  const isStepOver = createStepCounter();
  const before = new Map(resources.map(({ path, message }) => [path, message] as const));
  const violations: FieldViolation[] = [];
  for (const { path, message, place } of changes) {
    const named = namedIn(message);
    if (named === undefined) continue;
    const there = new Set(namedIn(before.get(path))?.permissions);
    for (const permission of named.permissions) {
      if (isStepOver()) yield;
      const description = there.has(permission) ? undefined : findUnknownPermission(permission, known);
      if (description !== undefined) violations.push({ field: `${place}.${named.field}`, description });
      if (violations.length >= maxViolations) throw invalidFields(violations);
    }
  }
  if (violations.length > 0) throw invalidFields(violations);
}

interface NamedPermissions {
  readonly field: string;
  readonly permissions: readonly string[];
}

function namedIn(message: Message | undefined): NamedPermissions | undefined {
  if (message === undefined) return undefined;
  if (isMessage(message, RoleSchema)) return { field: "permissions", permissions: message.permissions };
  return isMessage(message, ClientSchema) ? { field: "scopes", permissions: message.scopes } : undefined;
}
