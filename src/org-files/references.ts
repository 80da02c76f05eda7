// What resources of a file refer to, by paths below the org.
import { type Message, isMessage } from "@bufbuild/protobuf";
import { GroupMemberSchema, SubgroupSchema } from "../../gen/iam/v1alpha/group_member_pb.ts";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { type FileResource, parentPathOf, pathBelowOrg } from "./file-resources.ts";

interface FileReference {
  /** The field of the message; empty for the parent, which the place in the file says. */
  readonly field: string;
  readonly path: string;
}

export function referencesOf({ path, message }: Pick<FileResource, "path" | "message">): readonly FileReference[] {
  const parent = parentPathOf(path);
  return [...(parent === "" ? [] : [{ field: "", path: parent }]), ...fieldsOf(message)];
}

function fieldsOf(message: Message): readonly FileReference[] {
  if (isMessage(message, GroupMemberSchema)) return [{ field: "member_path", path: pathBelowOrg(message.memberPath) }];
  if (isMessage(message, SubgroupSchema)) return [{ field: "group_path", path: pathBelowOrg(message.groupPath) }];
  if (!isMessage(message, RoleBindingSchema)) return [];
  const subject = { field: "subject_path", path: pathBelowOrg(message.subjectPath) };
  // Predefined roles are in no org.
  return message.rolePath.startsWith("/roles/")
    ? [subject]
    : [subject, { field: "role_path", path: pathBelowOrg(message.rolePath) }];
}

/** Returns the path of what a resource goes with when that is removed: its parent, or what it refers to. Undefined if it does not go so. */
export function findImplying(resource: FileResource, removed: ReadonlyMap<string, unknown>): string | undefined {
  return referencesOf(resource).find(({ path }) => removed.has(path))?.path;
}
