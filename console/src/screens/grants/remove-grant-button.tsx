import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";

interface RemoveGrantButtonProps {
  readonly binding: RoleBinding;
  /** What people call the subject. */
  readonly who: string;
  readonly permissions: Permissions;
}

/** Takes a role away, after it has shown who loses what. */
export function RemoveGrantButton({ binding, who, permissions }: RemoveGrantButtonProps) {
  const [asking, setAsking] = useState(false);
  const remove = useMutation(RoleBindingsService.method.deleteRoleBinding);
  const queryClient = useQueryClient();
  const { path, etag, rolePath } = binding;
  return (
    <>
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.roleBindings.delete"
        label={texts.grants.removeFrom(nameOf(rolePath), who)}
        onClick={() => setAsking(true)}
      >
        {texts.grants.remove}
      </GuardedButton>
      <FormDialog
        title={`${texts.grants.removeFrom(nameOf(rolePath), who)}?`}
        submit={texts.grants.remove}
        kind="danger"
        open={asking}
        onClose={() => setAsking(false)}
        onPreview={async () => (await remove.mutateAsync({ path, etag, validateOnly: true })).accessPreview}
        onSubmit={async () => {
          await remove.mutateAsync({ path, etag });
          await queryClient.invalidateQueries();
        }}
      />
    </>
  );
}
