import { Link, useParams } from "@tanstack/react-router";
import { allProjects } from "../calls/paths.ts";
import { texts } from "../texts/texts.ts";

/** What the navigation of an org has of its projects. What is of all of them has a link of its own. */
export function ProjectLinks({ org }: { readonly org: string }) {
  const { project } = useParams({ strict: false });
  return (
    <>
      <Link
        to="/orgs/$org/projects"
        params={{ org }}
        activeOptions={{ exact: project === allProjects, includeSearch: false }}
      >
        {texts.nav.projects}
      </Link>
      <Link
        to="/orgs/$org/projects/$project/resources"
        params={{ org, project: allProjects }}
        activeOptions={{ includeSearch: false }}
      >
        {texts.nav.resources}
      </Link>
    </>
  );
}
