import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Role, RoleSchema, RolesService } from "../../../../gen/iam/v1alpha/role_pb.ts";
import { changedFields } from "../../calls/changed-fields.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { NamedFields, namedFields, readNamed } from "../../ui/named-fields.tsx";
import { Loading } from "../../ui/notes.tsx";
import { Said } from "../../ui/said.tsx";
import { SelectField, TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";
import { PermissionChooser } from "./permission-chooser.tsx";
import { withoutWildcards } from "./permission-groups.ts";
import { useKnownPermissions } from "./use-known-permissions.ts";

interface CreateRoleDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

const fields = [...namedFields, "permissions"];

const permissionsIn = (form: FormData): string[] =>
  form.getAll("permissions").filter((value) => typeof value === "string");

export function CreateRoleDialog({ org, open, onClose }: CreateRoleDialogProps) {
  const create = useMutation(RolesService.method.createRole);
  return (
    <FormDialog
      title={texts.roles.create}
      submit={texts.create}
      done={(form) => <Said what={texts.done.created} name={valueOf(form, "name")} />}
      fields={fields}
      open={open}
      onClose={onClose}
      onSubmit={(form) =>
        create.mutateAsync({ parentPath: org, role: { ...readNamed(form), permissions: permissionsIn(form) } })
      }
    >
      <NamedFields />
      <Permissions org={org} before={[]} startsFromRole />
    </FormDialog>
  );
}

interface ChangeRoleDialogProps {
  readonly org: string;
  /** The role as it was when somebody asked to change it; undefined while nobody does. */
  readonly role: Role | undefined;
  readonly onClose: () => void;
}

/** Changes a role, after it has shown who gains and who loses what. One with another name is at another path, to which it leads. */
export function ChangeRoleDialog({ org, role, onClose }: ChangeRoleDialogProps) {
  const update = useMutation(RolesService.method.updateRole);
  const navigate = useNavigate();
  const send = async (form: FormData, validateOnly: boolean): Promise<Role | undefined> => {
    if (role === undefined) return undefined;
    const { path, etag } = role;
    const changed = { ...readNamed(form), permissions: permissionsIn(form), etag };
    const paths = changedFields(RoleSchema, role, changed, fields);
    return paths.length === 0 ? role : update.mutateAsync({ path, role: changed, updateMask: { paths }, validateOnly });
  };
  return (
    <FormDialog
      title={texts.roles.editTitle}
      submit={texts.save}
      done={(form) => <Said what={texts.done.saved} name={valueOf(form, "display_name") || valueOf(form, "name")} />}
      fields={fields}
      open={role !== undefined}
      onClose={onClose}
      onPreview={async (form) => (await send(form, true))?.accessPreview}
      onSubmit={async (form) => {
        const { path = "" } = (await send(form, false)) ?? {};
        if (path !== role?.path) await navigate({ to: path, replace: true });
      }}
    >
      <TextField name="name" label={texts.fields.name} hint={texts.fields.renameHint} defaultValue={role?.name ?? ""} />
      <TextField name="display_name" label={texts.fields.displayName} defaultValue={role?.displayName ?? ""} />
      <TextAreaField name="description" label={texts.fields.description} defaultValue={role?.description ?? ""} />
      <Permissions org={org} before={role?.permissions ?? []} />
    </FormDialog>
  );
}

interface PermissionsProps {
  readonly org: string;
  readonly before: readonly string[];
  /** Whether somebody may begin with the permissions of another role. */
  readonly startsFromRole?: boolean;
}

function Permissions({ org, before, startsFromRole = false }: PermissionsProps) {
  const known = useKnownPermissions(org);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(before));
  if (known === undefined) return <Loading />;
  const { permissions, roles } = known;
  const start = (path: string): void => {
    const role = roles.find((each) => each.path === path);
    setChosen(new Set(withoutWildcards(role?.permissions ?? [], permissions)));
  };
  return (
    <>
      {startsFromRole ? (
        <SelectField
          name="start"
          label={texts.chooser.start}
          hint={texts.chooser.startHint}
          choices={[
            { value: "", label: texts.chooser.startEmpty },
            ...roles.map(({ path, name, displayName }) => ({ value: path, label: displayName || name })),
          ]}
          onValueChange={start}
        />
      ) : null}
      <PermissionChooser known={permissions} chosen={chosen} onChoose={setChosen} />
    </>
  );
}
