import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";

/** What is taken away, as it was when somebody asked for that. */
interface Asked {
  readonly binding: RoleBinding;
  /** What people call the subject. */
  readonly who: string;
}

interface RemoveGrantButtonProps extends Asked {
  readonly permissions: Permissions;
}

/** Takes a role away, after it has shown who loses what. */
export function RemoveGrantButton({ binding, who, permissions }: RemoveGrantButtonProps) {
  const [asked, setAsked] = useState<Asked>();
  const remove = useMutation(RoleBindingsService.method.deleteRoleBinding);
  const role = nameOf(binding.rolePath);
  const { path = "", etag = "", rolePath = "" } = asked?.binding ?? {};
  return (
    <>
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.roleBindings.delete"
        label={texts.grants.removeFrom(role, who)}
        onClick={() => setAsked({ binding, who })}
      >
        {texts.grants.remove}
      </GuardedButton>
      <FormDialog
        title={
          <>
            {texts.grants.remove} <bdi>{nameOf(rolePath)}</bdi> {texts.grants.from} <bdi>{asked?.who}</bdi>?
          </>
        }
        submit={texts.grants.remove}
        done={
          <>
            {texts.grants.removed} <bdi>{nameOf(rolePath)}</bdi> {texts.grants.from} <bdi>{asked?.who}</bdi>.
          </>
        }
        kind="danger"
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onPreview={async () => (await remove.mutateAsync({ path, etag, validateOnly: true })).accessPreview}
        onSubmit={() => remove.mutateAsync({ path, etag })}
      />
    </>
  );
}
