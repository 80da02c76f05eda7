import { useMutation, useQuery } from "@connectrpc/connect-query";
import { IdentitiesService } from "../../../../gen/iam/v1alpha/identity_pb.ts";
import { IdentityProvidersService } from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { identityTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Said } from "../../ui/said.tsx";
import { SelectField, TextField, valueOf } from "../../ui/text-field.tsx";

interface LinkIdentityDialogProps {
  /** Such as `/orgs/acme/members/alice`. */
  readonly member: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Links an account at an identity provider of the org, with which the member then signs in. */
export function LinkIdentityDialog({ member, open, onClose }: LinkIdentityDialogProps) {
  const create = useMutation(IdentitiesService.method.createIdentity);
  const submit = (form: FormData): Promise<unknown> => {
    const identity = {
      name: valueOf(form, "name"),
      identityProviderPath: valueOf(form, "identity_provider_path"),
      subject: valueOf(form, "subject"),
    };
    return create.mutateAsync({ parentPath: member, identity });
  };
  return (
    <FormDialog
      title={identityTexts.link}
      intro={identityTexts.linkIntro}
      submit={identityTexts.link}
      done={(form) => <Said what={identityTexts.linked} name={valueOf(form, "subject")} />}
      fields={["identity_provider_path", "subject", "name"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <Provider org={parentOf(member)} />
      <TextField name="subject" label={identityTexts.subject} hint={identityTexts.subjectHint} spellCheck={false} />
      <TextField name="name" label={texts.fields.name} hint={texts.fields.nameHint} />
    </FormDialog>
  );
}

function Provider({ org }: { readonly org: string }) {
  const request = { parentPath: org, pageSize: 1_000 };
  const providers = useQuery(IdentityProvidersService.method.listIdentityProviders, request, { retry: false });
  return (
    <Answered of={providers}>
      {({ identityProviders }) =>
        identityProviders.length === 0 ? (
          <p className="note">{identityTexts.noProvider}</p>
        ) : (
          <SelectField
            name="identity_provider_path"
            label={identityTexts.provider}
            choices={identityProviders.map(({ path, name, displayName }) => ({
              value: path,
              label: displayName || name,
            }))}
          />
        )
      }
    </Answered>
  );
}
