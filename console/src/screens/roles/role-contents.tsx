import { useQuery } from "@connectrpc/connect-query";
import { RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { roleContentsTexts } from "../../texts/role-contents-texts.ts";
import { PermissionList } from "./permission-list.tsx";
import { roleInWords } from "./role-in-words.ts";

/** What somebody can type into the field for a role besides what it finds. */
const rolePath = /^(?:\/orgs\/[^/]+)?\/roles\/[^/]+$/;

/** What is in a role that somebody is about to give: in a sentence, and permission by permission. Nothing of one that cannot be read. */
export function RoleContents({ path = "" }: { readonly path: string | undefined }) {
  const role = useQuery(RolesService.method.getRole, { path }, { enabled: rolePath.test(path), retry: false }).data;
  if (role === undefined) return null;
  return (
    <section className="preview" role="status" aria-label={roleContentsTexts.title}>
      {role.description === "" ? null : (
        <p>
          <bdi>{role.description}</bdi>
        </p>
      )}
      <p>{roleInWords(role.permissions)}</p>
      {role.permissions.length === 0 ? null : (
        <details>
          <summary>{roleContentsTexts.show}</summary>
          <PermissionList permissions={role.permissions} />
        </details>
      )}
    </section>
  );
}
