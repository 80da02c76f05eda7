import { Field } from "@base-ui/react/field";
import { useMutation } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { AccessRequestsService } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { useResourceChoices, useRoleChoices } from "../../calls/use-choices.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { type Pick, Picker } from "../../ui/picker.tsx";
import { TextAreaField, valueOf } from "../../ui/text-field.tsx";
import { UntilField, readUntil } from "../../ui/until-field.tsx";
import { RoleContents } from "../roles/role-contents.tsx";

interface AskDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** What is asked for from the beginning: paths. */
  readonly preset: { readonly role?: string | undefined; readonly resource?: string | undefined };
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Asks for a role for some time. */
export function AskDialog({ org, preset, open, onClose }: AskDialogProps) {
  const create = useMutation(AccessRequestsService.method.createAccessRequest);
  const submit = (form: FormData): Promise<unknown> => {
    const accessRequest = {
      rolePath: valueOf(form, "role_path"),
      resourcePath: valueOf(form, "resource_path"),
      reason: valueOf(form, "reason"),
      ...readUntil(form),
      breakGlass: valueOf(form, "break_glass") !== "",
    };
    return create.mutateAsync({ parentPath: org, accessRequest });
  };
  return (
    <FormDialog
      title={accessRequestTexts.create}
      intro={accessRequestTexts.createIntro}
      submit={accessRequestTexts.create}
      done={texts.done.asked}
      fields={["role_path", "resource_path", "expire_time", "break_glass", "reason"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <AskFields org={org} preset={preset} />
    </FormDialog>
  );
}

const permissionToBegin = "iam.accessRequests.breakGlass";

const toPick = (path: string | undefined): Pick | undefined =>
  path === undefined ? undefined : { value: path, label: nameOf(path), note: path };

function AskFields({ org, preset }: Readonly<{ org: string; preset: AskDialogProps["preset"] }>) {
  const [role, setRole] = useState(toPick(preset.role));
  const [resource, setResource] = useState(toPick(preset.resource));
  const permissions = usePermissions(resource?.value ?? org, [permissionToBegin], resource !== undefined);
  const mayBegin = permissions.may(permissionToBegin) === true;
  const useRoles = useCallback((words: string, open: boolean) => useRoleChoices(org, words, open), [org]);
  const useResources = useCallback((words: string, open: boolean) => useResourceChoices(org, words, open), [org]);
  return (
    <>
      <Picker
        name="role_path"
        label={accessRequestTexts.role}
        hint={accessRequestTexts.roleHint}
        value={role}
        useChoices={useRoles}
        onPick={setRole}
        free
      />
      <RoleContents path={role?.value} />
      <Picker
        name="resource_path"
        label={accessRequestTexts.resource}
        hint={accessRequestTexts.resourceHint}
        value={resource}
        useChoices={useResources}
        onPick={setResource}
        free
      />
      <UntilField hint={accessRequestTexts.until} />
      {mayBegin ? (
        <Field.Root name="break_glass" className="field">
          <label>
            <input type="checkbox" name="break_glass" value="true" /> {accessRequestTexts.begin}
          </label>
          <span className="hint">{accessRequestTexts.beginHint}</span>
          <Field.Error className="field-error" />
        </Field.Root>
      ) : null}
      <TextAreaField name="reason" label={accessRequestTexts.why} hint={accessRequestTexts.whyHint} />
    </>
  );
}
