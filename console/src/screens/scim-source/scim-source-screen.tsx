import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ScimSource, ScimSourceSchema, ScimSourcesService } from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { ApplicationField } from "../scim-sources/application-field.tsx";
import { SourceFields, readSourceFields, sourceFields } from "../scim-sources/source-fields.tsx";
import { DirectoryGuide } from "./directory-guide.tsx";
import { DirectoryKeys } from "./directory-keys.tsx";
import { Managed } from "./managed.tsx";
import { SetUp } from "./set-up.tsx";
import { SourceFacts } from "./source-facts.tsx";
import { useManaged } from "./use-managed.ts";

const permissionsOfScreen = ["iam.scimSources.update", "iam.scimSources.delete"];

/** One SCIM source: what its directory needs, what is missing until that works, and what it manages. */
export function ScimSourceScreen() {
  const { org, source: name } = useParams({ from: "/orgs/$org/scimSources/$source" });
  const path = `/orgs/${org}/scimSources/${name}`;
  const source = useQuery(ScimSourcesService.method.getScimSource, { path });
  const permissions = usePermissions(path, permissionsOfScreen);
  return <ScreenOf of={source}>{(data) => <Shown key={data.id} source={data} permissions={permissions} />}</ScreenOf>;
}

/** What a dialog asks about. */
type Action = "change" | "delete";

interface ShownProps {
  readonly source: ScimSource;
  readonly permissions: Permissions;
}

function Shown({ source, permissions }: ShownProps) {
  const { ask, askedFor, close } = useAsked<Action, ScimSource>(source);
  const org = orgOf(source.path);
  const managed = useManaged(org, source.name);
  return (
    <Page
      kind={scimTexts.one}
      title={source.displayName || source.name}
      intro={source.description === "" ? undefined : <bdi>{source.description}</bdi>}
      actions={
        <>
          <GuardedButton permissions={permissions} permission="iam.scimSources.update" onClick={() => ask("change")}>
            {texts.change}
          </GuardedButton>
          <GuardedButton
            kind="danger"
            permissions={permissions}
            permission="iam.scimSources.delete"
            onClick={() => ask("delete")}
          >
            {texts.delete}
          </GuardedButton>
        </>
      }
    >
      <SourceFacts source={source} />
      <SetUp source={source} hasPeople={managed.members && managed.members.count > 0} />
      {source.memberPath === "" ? null : <DirectoryKeys member={source.memberPath} />}
      <Managed org={org} source={source.name} managed={managed} />
      <DirectoryGuide org={org} />
      <ChangeSourceDialog org={org} source={askedFor("change")} onClose={close} />
      <DeleteDialog org={org} source={askedFor("delete")} onClose={close} />
    </Page>
  );
}

interface SourceDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly source: ScimSource | undefined;
  readonly onClose: () => void;
}

function ChangeSourceDialog({ org, source, onClose }: SourceDialogProps) {
  const update = useMutation(ScimSourcesService.method.updateScimSource);
  const { memberPath = "" } = source ?? {};
  const application = memberPath === "" ? undefined : { value: memberPath, label: nameOf(memberPath) };
  return (
    <ChangeDialog
      schema={ScimSourceSchema}
      of={source}
      intro={scimTexts.changeIntro}
      fields={sourceFields}
      read={readSourceFields}
      onClose={onClose}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, scimSource: changed, updateMask })}
    >
      <ApplicationField org={org} application={application} />
      <SourceFields org={org} source={source} />
    </ChangeDialog>
  );
}

function DeleteDialog({ org, source, onClose }: SourceDialogProps) {
  const navigate = useNavigate();
  const remove = useMutation(ScimSourcesService.method.deleteScimSource);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={scimTexts.deleteIntro}
      removed={source}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: source?.etag ?? "" });
        await navigate({ to: "/orgs/$org/scimSources", params: { org: nameOf(org) } });
      }}
    />
  );
}
