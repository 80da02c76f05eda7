import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { texts } from "../../texts/texts.ts";
import { choicesOf } from "../../ui/enum-choices.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { listIn, SelectField, TextField, valueOf } from "../../ui/text-field.tsx";

const { keys: words } = scimTexts;

const dayMs = 86_400_000;

interface CreateDirectoryKeyDialogProps {
  /** The application of the directory, such as `/orgs/acme/members/okta`. */
  readonly member: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onMade: (key: ApiKey) => void;
}

/** Makes a key with which a directory calls SCIM. It ends. */
export function CreateDirectoryKeyDialog({ member, open, onClose, onMade }: CreateDirectoryKeyDialogProps) {
  const create = useMutation(ApiKeysService.method.createApiKey, {
    // The secret stays in the screen that shows it, and goes with it.
    gcTime: 0,
  });
  const submit = async (form: FormData): Promise<void> => {
    const apiKey = {
      name: valueOf(form, "name"),
      expireTime: timestampFromMs(Date.now() + Number(valueOf(form, "expire_time")) * dayMs),
      allowedAddresses: listIn(form, "allowed_addresses"),
    };
    onMade(await create.mutateAsync({ parentPath: member, apiKey }));
    create.reset();
  };
  return (
    <FormDialog
      title={words.create}
      intro={words.createIntro}
      submit={texts.create}
      fields={["name", "expire_time", "allowed_addresses"]}
      open={open}
      onClose={onClose}
      onSubmit={submit}
    >
      <NameField member={member} />
      <SelectField name="expire_time" label={words.end} choices={choicesOf(words.ends)} defaultValue="365" />
      <TextField name="allowed_addresses" label={words.addresses} hint={words.addressesHint} spellCheck={false} />
    </FormDialog>
  );
}

/** A name that no key has yet. */
function NameField({ member }: { readonly member: string }) {
  const request = { parentPath: member, pageSize: 1_000 };
  const { data } = useQuery(ApiKeysService.method.listApiKeys, request, { retry: false });
  const taken = new Set(data?.apiKeys.map(({ name }) => name));
  let name = "scim";
  for (let number = 2; taken.has(name); number += 1) name = `scim-${number}`;
  return (
    <TextField key={name} name="name" label={texts.fields.name} hint={texts.fields.nameHint} defaultValue={name} />
  );
}
