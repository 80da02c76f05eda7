import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import {
  type Project,
  ProjectSchema,
  ProjectsService,
  Project_StateSchema,
} from "../../../../gen/iam/v1alpha/project_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeAndDelete, changeAndDelete } from "../../ui/change-and-delete.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { QuotaUse } from "../overview/quota-use.tsx";
import { UsedLinks } from "../overview/used-links.tsx";

const kind = "iam.projects";

/** One project: what it uses. */
export function ProjectScreen() {
  const { org, project: name } = useParams({ from: "/orgs/$org/projects/$project" });
  const path = `/orgs/${org}/projects/${name}`;
  const project = useQuery(ProjectsService.method.getProject, { path });
  const quota = useQuery(QuotasService.method.getQuota, { parentPath: path }, { retry: false });
  return (
    <ScreenOf of={project}>
      {(data) => (
        <Page
          kind={texts.kinds.project}
          title={data.displayName || data.name}
          intro={data.description === "" ? undefined : <bdi>{data.description}</bdi>}
          actions={
            <>
              <Link
                to="/orgs/$org/projects/$project/resources"
                params={{ org, project: name }}
                className="button plain"
              >
                {texts.nav.resources}
              </Link>
              <Link
                to="/orgs/$org/projects/$project/roleBindings"
                params={{ org, project: name }}
                className="button plain"
              >
                {texts.grants.title}
              </Link>
              <Link to="/orgs/$org/access" params={{ org }} search={{ resource: data.path }} className="button plain">
                {texts.projects.why}
              </Link>
              <ProjectActions project={data} />
            </>
          }
        >
          <dl className="facts">
            <dt>{texts.columns.state}</dt>
            <dd>
              <StateBadge of={Project_StateSchema} value={data.state} />
            </dd>
            <PathFacts of={data} />
            <dt>{texts.columns.created}</dt>
            <dd>
              <Time at={data.createTime} />
            </dd>
          </dl>
          <Section title={texts.overview.used} actions={<UsedLinks path={path} />}>
            <Answered of={quota}>{(used) => <QuotaUse quota={used} org={path} />}</Answered>
          </Section>
        </Page>
      )}
    </ScreenOf>
  );
}

function ProjectActions({ project }: { readonly project: Project }) {
  const permissions = usePermissions(project.path, changeAndDelete(kind));
  const update = useMutation(ProjectsService.method.updateProject);
  const remove = useMutation(ProjectsService.method.deleteProject);
  return (
    <ChangeAndDelete
      schema={ProjectSchema}
      of={project}
      permissions={permissions}
      kind={kind}
      intro={deletionTexts.project}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, project: changed, updateMask })}
      onDelete={(deleted) => remove.mutateAsync(deleted)}
    />
  );
}
