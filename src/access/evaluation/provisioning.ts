// What a SCIM source may do. Its member holds one permission, with which it may call SCIM; in the calls that SCIM makes in process, it stands
// for those of the methods about members and groups. SCIM makes them only about what the source manages.
import type { CheckRequest } from "./check-request.ts";

/** What its member holds. It is worth every permission of the org: a source gives its people the roles of its groups, whatever these are. */
export const provisionPermission = "iam.scimSources.provision";

const standsFor: ReadonlySet<string> = new Set([
  "iam.members.create",
  "iam.members.update",
  "iam.members.suspend",
  "iam.members.activate",
  "iam.members.delete",
  "iam.identities.create",
  "iam.identities.delete",
  "iam.groups.create",
  "iam.groups.update",
  "iam.groups.delete",
  "iam.groupMembers.create",
  "iam.groupMembers.delete",
]);

/** Returns the permission that decides about what is asked. */
export function askedFor({ provisions }: Pick<CheckRequest, "provisions">, permission: string): string {
  return provisions === true && standsFor.has(permission) ? provisionPermission : permission;
}
