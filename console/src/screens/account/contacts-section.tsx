import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  type Contact,
  Contact_KindSchema,
  ContactsService,
  type SendConfirmationResponse,
} from "../../../../gen/iam/v1alpha/contact_pb.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { wordIn } from "../../texts/enum-words.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { copiedOf, RowMenu } from "../../ui/row-menu.tsx";
import { Time } from "../../ui/time.tsx";
import { ConfirmationNote } from "./confirmation-note.tsx";
import { ChangeContactDialog, CreateContactDialog } from "./contact-dialogs.tsx";

const permissionsOfContacts = ["list", "create", "update", "delete", "sendConfirmation"].map(
  (verb) => `iam.contacts.${verb}`,
);

/** More than an org or a customer has by default. */
const maxContacts = 1_000;

interface ContactsSectionProps {
  readonly kind: "org" | "customer";
  /** Such as `/orgs/acme`. */
  readonly parent: string;
}

/** The contacts of an org or a customer, with which of them are confirmed. */
export function ContactsSection({ kind, parent }: ContactsSectionProps) {
  const permissions = usePermissions(parent, permissionsOfContacts);
  const [creating, setCreating] = useState(false);
  const mayList = permissions.may("iam.contacts.list");
  return (
    <Section
      title={accountTexts.contacts}
      actions={
        <GuardedButton permissions={permissions} permission="iam.contacts.create" onClick={() => setCreating(true)}>
          {accountTexts.create}
        </GuardedButton>
      }
    >
      <p className="quiet-text before">{accountTexts.contactsIntro}</p>
      {mayList === true ? <Contacts kind={kind} parent={parent} permissions={permissions} /> : null}
      {mayList === false ? <Empty title={accountTexts.hidden} /> : null}
      <CreateContactDialog parent={parent} open={creating} onClose={() => setCreating(false)} />
    </Section>
  );
}

interface ContactsProps extends ContactsSectionProps {
  readonly permissions: Permissions;
}

/** What a dialog asks about. */
interface Asked {
  readonly action: "change" | "send" | "delete";
  readonly contact: Contact;
}

function Contacts({ kind, parent, permissions }: ContactsProps) {
  const contacts = useQuery(ContactsService.method.listContacts, { parentPath: parent, pageSize: maxContacts });
  const [asked, setAsked] = useState<Asked>();
  const [sent, setSent] = useState<SendConfirmationResponse>();
  const of = (action: Asked["action"]): Contact | undefined => (asked?.action === action ? asked.contact : undefined);
  const close = (): void => setAsked(undefined);
  return (
    <>
      {sent && <ConfirmationNote sent={sent} onDone={() => setSent(undefined)} />}
      <Answered of={contacts}>
        {({ contacts: rows }) =>
          rows.length === 0 ? (
            <Empty title={accountTexts.none}>
              <p>{accountTexts.noneHintOf[kind]}</p>
            </Empty>
          ) : (
            <ul className="lines" aria-label={accountTexts.contacts}>
              {rows.map((row) => (
                <ContactLine key={row.id} contact={row} permissions={permissions} ask={setAsked} />
              ))}
            </ul>
          )
        }
      </Answered>
      <ChangeContactDialog contact={of("change")} onClose={close} />
      <SendDialog contact={of("send")} onClose={close} onSent={setSent} />
      <DeleteDialog contact={of("delete")} onClose={close} />
    </>
  );
}

/** A line, and not a row: addresses are long, and a narrow screen has no room for columns beside them. */
function ContactLine({ contact, permissions, ask }: ActionsProps) {
  const { name, displayName, email, kinds } = contact;
  return (
    <li>
      <strong>
        <bdi>{displayName || name}</bdi>
      </strong>
      <bdi translate="no">{email}</bdi>
      <span>{kinds.map((kind) => wordIn(accountTexts.kindWords, Contact_KindSchema, kind)).join(", ")}</span>
      <ContactState contact={contact} />
      <span className="actions">
        <Actions contact={contact} permissions={permissions} ask={ask} />
        <RowMenu of={copiedOf(contact)} />
      </span>
    </li>
  );
}

function ContactState({ contact: { confirmTime } }: { readonly contact: Contact }) {
  if (confirmTime === undefined) return <span className="badge invited">{accountTexts.unconfirmed}</span>;
  return (
    <>
      <span className="badge active">{accountTexts.confirmed}</span> <Time at={confirmTime} />
    </>
  );
}

interface ActionsProps {
  readonly contact: Contact;
  readonly permissions: Permissions;
  readonly ask: (asked: Asked) => void;
}

function Actions({ contact, permissions, ask }: ActionsProps) {
  const name = contact.displayName || contact.name;
  return (
    <>
      {contact.confirmTime === undefined ? (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.contacts.sendConfirmation"
          label={`${accountTexts.send}: ${name}`}
          onClick={() => ask({ action: "send", contact })}
        >
          {accountTexts.send}
        </GuardedButton>
      ) : null}
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.contacts.update"
        label={`${texts.change} ${name}`}
        onClick={() => ask({ action: "change", contact })}
      >
        {texts.change}
      </GuardedButton>
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.contacts.delete"
        label={`${texts.delete} ${name}`}
        onClick={() => ask({ action: "delete", contact })}
      >
        {texts.delete}
      </GuardedButton>
    </>
  );
}

interface DialogProps {
  readonly contact: Contact | undefined;
  readonly onClose: () => void;
}

function SendDialog({
  contact,
  onClose,
  onSent,
}: DialogProps & { readonly onSent: (sent: SendConfirmationResponse) => void }) {
  // The link stays in the screen that shows it, and goes with it.
  const send = useMutation(ContactsService.method.sendConfirmation, { gcTime: 0 });
  return (
    <FormDialog
      title={
        <>
          {accountTexts.send}: <bdi>{contact?.email}</bdi>
        </>
      }
      intro={accountTexts.sendIntro}
      submit={accountTexts.send}
      open={contact !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        onSent(await send.mutateAsync({ path: contact?.path ?? "" }));
        send.reset();
      }}
    />
  );
}

function DeleteDialog({ contact, onClose }: DialogProps) {
  const remove = useMutation(ContactsService.method.deleteContact);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={accountTexts.deleteIntro}
      removed={contact}
      onClose={onClose}
      onRemove={(path) => remove.mutateAsync({ path, etag: contact?.etag ?? "" })}
    />
  );
}
