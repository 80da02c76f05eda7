import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useRoleChoices, useSubjectChoices } from "../../calls/use-choices.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";
import { ConditionField } from "./condition/condition-field.tsx";

interface WhereProps {
  readonly org: string;
  /** The org itself, or one of its projects. */
  readonly on: string;
}

interface GrantDialogProps extends WhereProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

const fields = ["subject_path", "role_path", "expire_time", "condition", "name"];

/** The most characters of a name. */
const longestName = 64;

/** Grants a role, after it has shown who gains what. */
export function GrantDialog({ org, on, open, onClose }: GrantDialogProps) {
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
      fields={fields}
      open={open}
      onClose={onClose}
      onPreview={async (form) => (await create.mutateAsync(request(form, true))).accessPreview}
      onSubmit={(form) => create.mutateAsync(request(form, false))}
    >
      <GrantFields org={org} on={on} />
    </FormDialog>
  );
}

function readGrant(form: FormData) {
  const [subjectPath, rolePath] = [valueOf(form, "subject_path"), valueOf(form, "role_path")];
  const end = valueOf(form, "expire_time");
  const usual = `${nameOf(subjectPath)}-${nameOf(rolePath)}`.replaceAll("@", "").slice(0, longestName);
  return {
    name: valueOf(form, "name") || usual.replace(/-+$/, ""),
    subjectPath,
    rolePath,
    condition: valueOf(form, "condition"),
    ...(end === "" ? {} : { expireTime: timestampFromDate(new Date(end)) }),
  };
}

function GrantFields({ org, on }: WhereProps) {
  const [subject, setSubject] = useState<Pick>();
  const [role, setRole] = useState<Pick>();
  const useSubjects = useCallback((words: string, open: boolean) => useSubjectChoices(org, words, open), [org]);
  const useRoles = useCallback((words: string, open: boolean) => useRoleChoices(org, words, open), [org]);
  return (
    <>
      <Picker
        name="subject_path"
        label={texts.grants.to}
        hint={texts.grants.toHint}
        value={subject}
        useChoices={useSubjects}
        onPick={setSubject}
      />
      <Picker name="role_path" label={texts.columns.role} value={role} useChoices={useRoles} onPick={setRole} />
      <TextField name="expire_time" label={texts.fields.until} hint={texts.grants.untilHint} type="datetime-local" />
      <ConditionField on={on} />
      <TextField name="name" label={texts.fields.name} hint={texts.grants.nameHint} />
    </>
  );
}
