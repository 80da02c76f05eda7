import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { IdentityProvidersService } from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import type { Named } from "../../ui/named-fields.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";
import { ProviderFields, providerFields, readProviderFields } from "./provider-fields.tsx";

interface CreateProviderDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates an identity provider, and leads to its screen, which says what to register at the issuer. */
export function CreateProviderDialog({ org, open, onClose }: CreateProviderDialogProps) {
  const navigate = useNavigate();
  const create = useMutation(IdentityProvidersService.method.createIdentityProvider, {
    // The secret stays in the form, and goes with it.
    gcTime: 0,
  });
  const submit = async (named: Named, form: FormData): Promise<void> => {
    const identityProvider = {
      ...named,
      ...readProviderFields(form),
      issuer: valueOf(form, "issuer"),
      clientId: valueOf(form, "client_id"),
      subjectClaim: valueOf(form, "subject_claim"),
    };
    const { name: provider } = await create.mutateAsync({ parentPath: org, identityProvider });
    create.reset();
    await navigate({ to: "/orgs/$org/identityProviders/$provider", params: { org: nameOf(org), provider } });
  };
  return (
    <CreateDialog
      title={providerTexts.create}
      intro={providerTexts.createIntro}
      fields={["issuer", "client_id", "subject_claim", ...providerFields]}
      open={open}
      onClose={onClose}
      onCreate={submit}
    >
      <TextField name="issuer" label={providerTexts.issuer} hint={providerTexts.issuerHint} spellCheck={false} />
      <TextField name="client_id" label={providerTexts.clientId} hint={providerTexts.clientIdHint} spellCheck={false} />
      <TextField
        name="subject_claim"
        label={providerTexts.subjectClaim}
        hint={providerTexts.subjectClaimHint}
        spellCheck={false}
      />
      <ProviderFields org={org} />
    </CreateDialog>
  );
}
