import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Role, RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { texts } from "../../texts/texts.ts";
import { permissionsFor } from "../../ui/actions/use-actions.tsx";
import type { Actions } from "../../ui/actions/use-state-actions.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ChangeRoleDialog } from "./role-dialog.tsx";

/** What the service requires to change a role, and to delete it. */
export const rolePermissions = permissionsFor("iam.roles");

/**
 * Offers to change and delete roles of an org, each after its preview: who gains and loses what.
 *
 * @param onDeleted called after a role is deleted.
 */
export function useRoleActions(org: string, onDeleted?: () => Promise<unknown>): Actions<Role> {
  const [changing, setChanging] = useState<Role>();
  const [deleting, setDeleting] = useState<Role>();
  const remove = useMutation(RolesService.method.deleteRole);
  const etag = deleting?.etag ?? "";
  const [mayChange = "", mayDelete = ""] = rolePermissions;
  return {
    of: (role) => [
      { act: texts.change, permission: mayChange, kind: "plain", ask: () => setChanging(role) },
      { act: texts.delete, permission: mayDelete, kind: "danger", ask: () => setDeleting(role) },
    ],
    dialogs: (
      <>
        <ChangeRoleDialog org={org} role={changing} onClose={() => setChanging(undefined)} />
        <RemovalDialog
          words={texts.delete}
          intro={texts.roles.deleteIntro}
          removed={deleting}
          onClose={() => setDeleting(undefined)}
          onPreview={async (path) => (await remove.mutateAsync({ path, etag, validateOnly: true })).accessPreview}
          onRemove={async (path) => {
            await remove.mutateAsync({ path, etag });
            await onDeleted?.();
          }}
        />
      </>
    ),
  };
}
