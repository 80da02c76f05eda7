import { useMutation } from "@connectrpc/connect-query";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { listIn, TextField, valueOf } from "../../ui/text-field.tsx";
import { readUntil, UntilField } from "../../ui/until-field.tsx";

interface CreateKeyDialogProps {
  /** Such as `/orgs/acme/members/alice`. */
  readonly member: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (key: ApiKey) => void;
}

export function CreateKeyDialog({ member, open, onClose, onMade }: CreateKeyDialogProps) {
  const create = useMutation(ApiKeysService.method.createApiKey, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const apiKey = {
      name: valueOf(form, "name"),
      displayName: valueOf(form, "display_name"),
      scopes: listIn(form, "scopes"),
      ...readUntil(form),
    };
    onMade(await create.mutateAsync({ parentPath: member, apiKey }));
    create.reset();
  };
  return (
    <FormDialog
      title={texts.keys.create}
      intro={texts.keys.createIntro}
      submit={texts.create}
      fields={["name", "display_name", "expire_time", "scopes"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField name="name" label={texts.fields.name} hint={texts.fields.nameHint} />
      <TextField name="display_name" label={texts.fields.displayName} hint={texts.fields.displayNameHint} />
      <UntilField hint={texts.keys.untilHint} />
      <TextField name="scopes" label={texts.keys.scopes} hint={texts.keys.scopesHint} />
    </FormDialog>
  );
}
