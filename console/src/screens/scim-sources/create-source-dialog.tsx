import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { MembersService, Member_Type } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { ScimSourcesService } from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { invalidField } from "../../calls/invalid-field.ts";
import { nameOf } from "../../calls/paths.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import { choicesOf } from "../../ui/enum-choices.ts";
import type { Named } from "../../ui/named-fields.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { ApplicationField } from "./application-field.tsx";
import { provisionerGrant } from "./provisioner.ts";
import { SourceFields, readSourceFields, sourceFields } from "./source-fields.tsx";

interface CreateSourceDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates a SCIM source, with an application of its own if there is none for it yet, and leads to its key. */
export function CreateSourceDialog({ org, open, onClose }: CreateSourceDialogProps) {
  const [actsAs, setActsAs] = useState("new");
  const createSource = useCreation(org);
  const navigate = useNavigate();
  const submit = async (named: Named, form: FormData): Promise<void> => {
    const fields = readSourceFields(form);
    if (actsAs === "known" && fields.memberPath === "") {
      throw invalidField("scim_source.member_path", scimTexts.chooseApplication);
    }
    const { name: source } = await createSource(named, fields);
    const params = { org: nameOf(org), source };
    await navigate({ to: "/orgs/$org/scimSources/$source", params, search: { create: true } });
  };
  return (
    <CreateDialog
      title={scimTexts.create}
      intro={scimTexts.createIntro}
      fields={sourceFields}
      open={open}
      onClose={onClose}
      onCreate={submit}
    >
      <SelectField
        name="acts_as"
        label={scimTexts.actsAs}
        hint={scimTexts.actsAsHint}
        choices={choicesOf(scimTexts.actsAsChoices)}
        value={actsAs}
        onValueChange={setActsAs}
      />
      {actsAs === "known" ? <ApplicationField org={org} /> : null}
      <SourceFields org={org} />
    </CreateDialog>
  );
}

/** Returns how a source is created. Without an application it gets a new one, which does not stay where the source is refused. */
function useCreation(org: string) {
  const transport = useTransport();
  const members = createClient(MembersService, transport);
  const roleBindings = createClient(RoleBindingsService, transport);
  const sources = createClient(ScimSourcesService, transport);
  return async (named: Named, fields: ReturnType<typeof readSourceFields>) => {
    const request = { parentPath: org, scimSource: { ...named, ...fields } };
    if (fields.memberPath !== "") return sources.createScimSource(request);
    // What is wrong with the source is said before anything is made.
    await sources.createScimSource({ ...request, validateOnly: true });
    const member = { ...named, type: Member_Type.APPLICATION };
    const { path: memberPath, id } = await members.createMember({ parentPath: org, member });
    try {
      await roleBindings.createRoleBinding({ parentPath: org, roleBinding: provisionerGrant(memberPath) });
      return await sources.createScimSource({ ...request, scimSource: { ...request.scimSource, memberPath } });
    } catch (error) {
      await members.deleteMember({ path: `${org}/members/@${id}` }).catch(() => undefined);
      throw error;
    }
  };
}
