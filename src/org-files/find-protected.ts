// What a plan never removes, whatever the file leaves out: the author, the owners of the org, and what makes them so.
import { isMessage } from "@bufbuild/protobuf";
import { RoleBindingSchema } from "../../gen/iam/v1alpha/role_binding_pb.ts";
import { parentPathOf, pathBelowOrg } from "./file-resources.ts";
import type { OrgState } from "./read-state.ts";
import type { StateResource } from "./state-resource.ts";
import { referencesOf } from "./references.ts";

const owner = "/roles/owner";

/** Returns whether a resource of an org is protected. Owners are those of the org as a whole, also through groups. */
export function findProtected({ resources }: OrgState, authorId: string): (resource: StateResource) => boolean {
  const below = Map.groupBy(resources, ({ path }) => parentPathOf(path));
  const kept = new Set<string>();
  const keep = (path: string): void => {
    if (kept.has(path)) return;
    kept.add(path);
    if (!path.startsWith("groups/")) return;
    for (const inside of below.get(path) ?? []) {
      kept.add(inside.path);
      for (const reference of referencesOf(inside)) keep(reference.path);
    }
  };
  const author = resources.find(({ type, id }) => type === "member" && id === authorId);
  if (author !== undefined) keep(author.path);
  for (const { path, message } of resources) {
    if (!isMessage(message, RoleBindingSchema)) continue;
    const subject = pathBelowOrg(message.subjectPath);
    const isOfOwner = path.startsWith("roleBindings/") && message.rolePath === owner;
    if (!isOfOwner && subject !== author?.path) continue;
    kept.add(path);
    if (isOfOwner) keep(subject);
    for (const reference of referencesOf({ path, message })) kept.add(reference.path);
  }
  return ({ path }) => kept.has(path);
}
