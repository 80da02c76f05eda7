import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import {
  type IdentityProvider,
  IdentityProviderSchema,
  IdentityProvidersService,
} from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { ProviderFields, providerFields, readProviderFields } from "../identity-providers/provider-fields.tsx";
import { ProviderFacts } from "./provider-facts.tsx";

const permissionsOfScreen = ["iam.identityProviders.update", "iam.identityProviders.delete"];

/** One identity provider: what to register at its issuer, and who signs in with it. */
export function IdentityProviderScreen() {
  const { org, provider: name } = useParams({ from: "/orgs/$org/identityProviders/$provider" });
  const path = `/orgs/${org}/identityProviders/${name}`;
  const provider = useQuery(IdentityProvidersService.method.getIdentityProvider, { path });
  const permissions = usePermissions(path, permissionsOfScreen);
  return (
    <ScreenOf of={provider}>{(data) => <Shown key={data.id} provider={data} permissions={permissions} />}</ScreenOf>
  );
}

/** What a dialog asks about. */
type Action = "change" | "delete";

interface ShownProps {
  readonly provider: IdentityProvider;
  readonly permissions: Permissions;
}

function Shown({ provider, permissions }: ShownProps) {
  const { ask, askedFor, close } = useAsked<Action, IdentityProvider>(provider);
  return (
    <Page
      kind={providerTexts.one}
      title={provider.displayName || provider.name}
      intro={provider.description === "" ? undefined : <bdi>{provider.description}</bdi>}
      actions={
        <>
          <GuardedButton
            permissions={permissions}
            permission="iam.identityProviders.update"
            onClick={() => ask("change")}
          >
            {texts.change}
          </GuardedButton>
          <GuardedButton
            kind="danger"
            permissions={permissions}
            permission="iam.identityProviders.delete"
            onClick={() => ask("delete")}
          >
            {texts.delete}
          </GuardedButton>
        </>
      }
    >
      <ProviderFacts provider={provider} />
      <ChangeProviderDialog provider={askedFor("change")} onClose={close} />
      <DeleteDialog provider={askedFor("delete")} onClose={close} />
    </Page>
  );
}

interface ProviderDialogProps {
  readonly provider: IdentityProvider | undefined;
  readonly onClose: () => void;
}

function ChangeProviderDialog({ provider, onClose }: ProviderDialogProps) {
  const { org } = useParams({ from: "/orgs/$org/identityProviders/$provider" });
  const update = useMutation(IdentityProvidersService.method.updateIdentityProvider, {
    // The secret stays in the form, and goes with it.
    gcTime: 0,
  });
  return (
    <ChangeDialog
      schema={IdentityProviderSchema}
      of={provider}
      intro={providerTexts.changeIntro}
      fields={providerFields}
      read={readProviderFields}
      onClose={onClose}
      onChange={async ({ path, changed, updateMask }) => {
        await update.mutateAsync({ path, identityProvider: changed, updateMask });
        update.reset();
      }}
    >
      <ProviderFields org={`/orgs/${org}`} provider={provider} />
    </ChangeDialog>
  );
}

function DeleteDialog({ provider, onClose }: ProviderDialogProps) {
  const { org } = useParams({ from: "/orgs/$org/identityProviders/$provider" });
  const navigate = useNavigate();
  const remove = useMutation(IdentityProvidersService.method.deleteIdentityProvider);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={providerTexts.deleteIntro}
      removed={provider}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: provider?.etag ?? "" });
        await navigate({ to: "/orgs/$org/identityProviders", params: { org } });
      }}
    />
  );
}
