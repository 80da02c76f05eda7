import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { IdentityProvidersService } from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import {
  type ScimSource,
  ScimSource_Subject as Subject,
  ScimSource_SubjectSchema as SubjectSchema,
} from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { type Choice, SelectField, valueOf } from "../../ui/text-field.tsx";

/** The names of the fields that a form about a SCIM source shows, as in the API. */
export const sourceFields = ["member_path", "identity_provider_path", "subject"] as const;

/** Returns what somebody has chosen in them. */
export const readSourceFields = (form: FormData) => ({
  memberPath: valueOf(form, "member_path"),
  identityProviderPath: valueOf(form, "identity_provider_path"),
  subject: chosenIn(form, "subject", Subject),
});

interface SourceFieldsProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly source?: ScimSource | undefined;
}

/** With what the people of a directory sign in, and as whom there. */
export function SourceFields({ org, source }: SourceFieldsProps) {
  const { identityProviderPath = "", subject = Subject.EXTERNAL_ID } = source ?? {};
  const [provider, setProvider] = useState(identityProviderPath);
  const subjectName = nameIn(SubjectSchema, subject);
  return (
    <>
      <SelectField
        name="identity_provider_path"
        label={scimTexts.provider}
        hint={scimTexts.providerHint}
        choices={useProviderChoices(org, identityProviderPath)}
        value={provider}
        onValueChange={setProvider}
      />
      {provider === "" ? (
        <input type="hidden" name="subject" value={subjectName} />
      ) : (
        <SelectField
          name="subject"
          label={scimTexts.subject}
          choices={choicesOf(scimTexts.subjects)}
          defaultValue={subjectName}
        />
      )}
    </>
  );
}

/** Returns the identity providers of an org, and the one that is chosen, which is there before the others are known. */
function useProviderChoices(org: string, chosen: string): readonly Choice[] {
  const request = { parentPath: org, pageSize: 1_000 };
  const { data } = useQuery(IdentityProvidersService.method.listIdentityProviders, request, { retry: false });
  const known = (data?.identityProviders ?? []).map(({ path, name, displayName }) => ({
    value: path,
    label: displayName || name,
  }));
  const isMissing = chosen !== "" && known.every(({ value }) => value !== chosen);
  return [
    { value: "", label: scimTexts.noProvider },
    ...known,
    ...(isMissing ? [{ value: chosen, label: nameOf(chosen) }] : []),
  ];
}
