import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import {
  type Project,
  ProjectsService,
  Project_State,
  Project_StateSchema,
} from "../../../../gen/iam/v1alpha/project_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ActionButtons } from "../../ui/actions/action-buttons.tsx";
import { DeletionFacts, StateNote } from "../../ui/deletion-facts.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { QuotaUse } from "../overview/quota-use.tsx";
import { UsedLinks } from "../overview/used-links.tsx";
import { projectPermissions, useProjectActions } from "./use-project-actions.ts";

/** One project: its state, and what it uses. */
export function ProjectScreen() {
  const { org, project: name } = useParams({ from: "/orgs/$org/projects/$project" });
  const path = `/orgs/${org}/projects/${name}`;
  const project = useQuery(ProjectsService.method.getProject, { path });
  const permissions = usePermissions(path, projectPermissions);
  const actions = useProjectActions();
  return (
    <ScreenOf of={project}>
      {(data) => (
        <Page
          kind={texts.kinds.project}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={
            <>
              {actions.isDeleted(data) ? null : <Links org={org} project={name} />}
              <ActionButtons of={data} actions={actions} permissions={permissions} />
            </>
          }
        >
          {data.state === Project_State.SUSPENDED ? <StateNote>{lifecycleTexts.projectIsSuspended}</StateNote> : null}
          <ProjectFacts project={data} />
          {actions.isDeleted(data) ? <StateNote>{lifecycleTexts.projectIsDeleted}</StateNote> : <Used path={path} />}
        </Page>
      )}
    </ScreenOf>
  );
}

/** Leads to what is in a project, and to who may do what there. */
function Links({ org, project }: { readonly org: string; readonly project: string }) {
  const params = { org, project };
  return (
    <>
      <Link to="/orgs/$org/projects/$project/resources" params={params} className="button plain">
        {texts.nav.resources}
      </Link>
      <Link to="/orgs/$org/projects/$project/roleBindings" params={params} className="button plain">
        {texts.grants.title}
      </Link>
      <Link
        to="/orgs/$org/access"
        params={{ org }}
        search={{ resource: `/orgs/${org}/projects/${project}` }}
        className="button plain"
      >
        {texts.projects.why}
      </Link>
    </>
  );
}

function ProjectFacts({ project }: { readonly project: Project }) {
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={Project_StateSchema} value={project.state} />
      </Fact>
      <PathFacts of={project} />
      <Fact title={texts.columns.created}>
        <Time at={project.createTime} />
      </Fact>
      <DeletionFacts of={project} />
    </Facts>
  );
}

function Used({ path }: { readonly path: string }) {
  const quota = useQuery(QuotasService.method.getQuota, { parentPath: path }, { retry: false });
  return (
    <Section title={texts.overview.used} actions={<UsedLinks path={path} />}>
      <Answered of={quota}>{(used) => <QuotaUse quota={used} org={path} />}</Answered>
    </Section>
  );
}
