import { useMutation } from "@connectrpc/connect-query";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { valueOf } from "../../ui/text-field.tsx";
import { readUntil } from "../../ui/until-field.tsx";
import { GrantFields, type GrantFieldsProps } from "./grant-fields.tsx";
import { usualGrantName } from "./usual-grant-name.ts";

interface GrantDialogProps extends GrantFieldsProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

const fields = ["subject_path", "role_path", "expire_time", "condition", "name"];

/** Grants a role, after it has shown who gains what. */
export function GrantDialog({ on, subjectsOf, open, onClose }: GrantDialogProps) {
  const create = useMutation(RoleBindingsService.method.createRoleBinding);
  const request = (form: FormData, validateOnly: boolean) => ({
    parentPath: on,
    roleBinding: readGrant(form),
    validateOnly,
  });
  return (
    <FormDialog
      title={texts.grants.create}
      submit={texts.grants.grant}
      done={(form) => (
        <>
          {texts.grants.granted} <bdi>{nameOf(valueOf(form, "role_path"))}</bdi> {texts.grants.toWhom}{" "}
          <bdi>{nameOf(valueOf(form, "subject_path"))}</bdi>.
        </>
      )}
      fields={fields}
      open={open}
      onClose={onClose}
      onPreview={async (form) => (await create.mutateAsync(request(form, true))).accessPreview}
      onSubmit={(form) => create.mutateAsync(request(form, false))}
    >
      <GrantFields on={on} subjectsOf={subjectsOf} />
    </FormDialog>
  );
}

function readGrant(form: FormData) {
  const [subjectPath, rolePath] = [valueOf(form, "subject_path"), valueOf(form, "role_path")];
  return {
    name: valueOf(form, "name") || usualGrantName(subjectPath, rolePath),
    subjectPath,
    rolePath,
    condition: valueOf(form, "condition"),
    ...readUntil(form),
  };
}
