import { Field } from "@base-ui/react/field";
import { useMutation } from "@connectrpc/connect-query";
import { type Contact, Contact_Kind, ContactSchema, ContactsService } from "../../../../gen/iam/v1alpha/contact_pb.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";

const contactFields = ["email", "kinds"] as const;

const kindNames = ["BILLING", "SECURITY", "TECHNICAL"] as const;

const readContactFields = (form: FormData): Pick<Contact, "email" | "kinds"> => ({
  email: valueOf(form, "email"),
  kinds: kindNames.filter((name) => form.getAll("kinds").includes(name)).map((name) => Contact_Kind[name]),
});

interface CreateContactDialogProps {
  /** Such as `/orgs/acme`. */
  readonly parent: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function CreateContactDialog({ parent, open, onClose }: CreateContactDialogProps) {
  const create = useMutation(ContactsService.method.createContact);
  return (
    <CreateDialog
      title={accountTexts.create}
      intro={accountTexts.createIntro}
      fields={contactFields}
      open={open}
      onClose={onClose}
      onCreate={(named, form) =>
        create.mutateAsync({ parentPath: parent, contact: { ...named, ...readContactFields(form) } })
      }
    >
      <ContactFields contact={undefined} />
    </CreateDialog>
  );
}

interface ChangeContactDialogProps {
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly contact: Contact | undefined;
  readonly onClose: () => void;
}

export function ChangeContactDialog({ contact, onClose }: ChangeContactDialogProps) {
  const update = useMutation(ContactsService.method.updateContact);
  return (
    <ChangeDialog
      schema={ContactSchema}
      of={contact}
      fields={contactFields}
      read={readContactFields}
      onClose={onClose}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, contact: changed, updateMask })}
    >
      <ContactFields contact={contact} />
    </ChangeDialog>
  );
}

function ContactFields({ contact }: { readonly contact: Contact | undefined }) {
  const { email = "", kinds = [] } = contact ?? {};
  return (
    <>
      <TextField
        name="email"
        label={accountTexts.email}
        hint={accountTexts.emailHint}
        inputMode="email"
        spellCheck={false}
        defaultValue={email}
      />
      <Field.Root name="kinds" className="field">
        <fieldset className="choices column">
          <legend className="label">{accountTexts.kinds}</legend>
          {kindNames.map((name) => (
            <label key={name}>
              <input type="checkbox" name="kinds" value={name} defaultChecked={kinds.includes(Contact_Kind[name])} />
              {accountTexts.kindWords[name]}
            </label>
          ))}
        </fieldset>
        <Field.Error className="field-error" />
      </Field.Root>
    </>
  );
}
