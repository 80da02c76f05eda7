import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ProjectsService } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { texts } from "../../texts/texts.ts";
import { Empty } from "../../ui/notes.tsx";

/** Leads through a new org, until somebody in it is granted a role: members, a project, a role, a grant. Each opens its form. */
export function FirstSteps({ org }: { readonly org: string }) {
  const path = `/orgs/${org}`;
  const { data } = useQuery(QuotasService.method.getQuota, { parentPath: path }, { retry: false });
  const { members = 0, projects = 0, roles = 0, roleBindings = 0 } = data?.resourceUsage ?? {};
  if (data === undefined || roleBindings > 0) return null;
  const { first } = texts.overview;
  const params = { org };
  return (
    <Empty title={first.title}>
      <ol className="steps">
        <FirstStep done={members > 0}>
          <Link to="/orgs/$org/members" params={params} search={{ create: true }}>
            {first.members}
          </Link>
        </FirstStep>
        <FirstStep done={projects > 0}>
          <Link to="/orgs/$org/projects" params={params} search={{ create: true }}>
            {first.project}
          </Link>
        </FirstStep>
        <FirstStep done={roles > 0}>
          <Link to="/orgs/$org/roles" params={params} search={{ create: true }}>
            {first.role}
          </Link>
        </FirstStep>
        <FirstStep done={false}>
          <GrantLink org={org} hasProjects={projects > 0} />
        </FirstStep>
      </ol>
    </Empty>
  );
}

interface FirstStepProps {
  readonly done: boolean;
  readonly children: ReactNode;
}

function FirstStep({ done, children }: FirstStepProps) {
  return (
    <li>
      {children}
      {done ? (
        <span className="quiet-text">
          {" "}
          <span aria-hidden="true">✓</span> {texts.overview.first.done}
        </span>
      ) : null}
    </li>
  );
}

/** Leads to the form for a grant on the first project; on the org, while there is none. */
function GrantLink({ org, hasProjects }: { readonly org: string; readonly hasProjects: boolean }) {
  const request = { parentPath: `/orgs/${org}`, pageSize: 1 };
  const { data } = useQuery(ProjectsService.method.listProjects, request, { enabled: hasProjects, retry: false });
  const [project] = data?.projects ?? [];
  const { grant } = texts.overview.first;
  if (project === undefined) {
    return (
      <Link to="/orgs/$org/roleBindings" params={{ org }} search={{ create: true }}>
        {grant}
      </Link>
    );
  }
  return (
    <Link
      to="/orgs/$org/projects/$project/roleBindings"
      params={{ org, project: project.name }}
      search={{ create: true }}
    >
      {grant}
    </Link>
  );
}
