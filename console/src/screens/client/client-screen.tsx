import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Client, ClientSchema, ClientsService } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { ClientFields, clientFields, readClientFields } from "../clients/client-fields.tsx";
import { NewClientSecret } from "../clients/new-client-secret.tsx";
import { ClientFacts } from "./client-facts.tsx";
import { RotateClientDialog } from "./rotate-client-dialog.tsx";

const permissionsOfScreen = ["iam.clients.update", "iam.clients.rotate", "iam.clients.delete"];

/** One OAuth client: what its application needs, and for what it may ask. */
export function ClientScreen() {
  const { org, client: name } = useParams({ from: "/orgs/$org/clients/$client" });
  const path = `/orgs/${org}/clients/${name}`;
  const client = useQuery(ClientsService.method.getClient, { path });
  const permissions = usePermissions(path, permissionsOfScreen);
  return <ScreenOf of={client}>{(data) => <Shown key={data.id} client={data} permissions={permissions} />}</ScreenOf>;
}

/** What a dialog asks about. */
type Action = "change" | "rotate" | "delete";

interface ShownProps {
  readonly client: Client;
  readonly permissions: Permissions;
}

function Shown({ client, permissions }: ShownProps) {
  const { ask, askedFor, close } = useAsked<Action, Client>(client);
  const [rotated, setRotated] = useState<Client>();
  return (
    <Page
      kind={clientTexts.one}
      title={client.displayName || client.name}
      intro={client.description === "" ? undefined : <bdi>{client.description}</bdi>}
      actions={<Actions client={client} permissions={permissions} onAsk={ask} />}
    >
      {rotated === undefined ? null : <NewClientSecret client={rotated} onDone={() => setRotated(undefined)} />}
      <ClientFacts client={client} />
      <ChangeClientDialog client={askedFor("change")} onClose={close} />
      <RotateClientDialog client={askedFor("rotate")} onClose={close} onRotated={setRotated} />
      <DeleteDialog client={askedFor("delete")} onClose={close} />
    </Page>
  );
}

interface ActionsProps extends ShownProps {
  readonly onAsk: (action: Action) => void;
}

function Actions({ client, permissions, onAsk }: ActionsProps) {
  return (
    <>
      <GuardedButton permissions={permissions} permission="iam.clients.update" onClick={() => onAsk("change")}>
        {texts.change}
      </GuardedButton>
      {client.confidential ? (
        <GuardedButton permissions={permissions} permission="iam.clients.rotate" onClick={() => onAsk("rotate")}>
          {secretTexts.rotate}
        </GuardedButton>
      ) : null}
      <GuardedButton
        kind="danger"
        permissions={permissions}
        permission="iam.clients.delete"
        onClick={() => onAsk("delete")}
      >
        {texts.delete}
      </GuardedButton>
    </>
  );
}

interface ClientDialogProps {
  readonly client: Client | undefined;
  readonly onClose: () => void;
}

function ChangeClientDialog({ client, onClose }: ClientDialogProps) {
  const update = useMutation(ClientsService.method.updateClient);
  return (
    <ChangeDialog
      schema={ClientSchema}
      of={client}
      intro={clientTexts.changeIntro}
      fields={clientFields}
      read={readClientFields}
      onClose={onClose}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, client: changed, updateMask })}
    >
      <ClientFields client={client} />
    </ChangeDialog>
  );
}

function DeleteDialog({ client, onClose }: ClientDialogProps) {
  const { org } = useParams({ from: "/orgs/$org/clients/$client" });
  const navigate = useNavigate();
  const remove = useMutation(ClientsService.method.deleteClient);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={clientTexts.deleteIntro}
      removed={client}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: client?.etag ?? "" });
        await navigate({ to: "/orgs/$org/clients", params: { org } });
      }}
    />
  );
}
