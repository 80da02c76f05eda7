import { Link, Outlet, useParams } from "@tanstack/react-router";
import { texts } from "../texts/texts.ts";

/** The navigation of an org, beside its screens. */
export function OrgFrame() {
  const { org } = useParams({ from: "/orgs/$org" });
  const params = { org };
  const { nav } = texts;
  return (
    <div className="org-frame">
      <nav className="side" aria-label={nav.label}>
        <Link to="/orgs/$org" params={params} activeOptions={{ exact: true, includeSearch: false }}>
          {nav.overview}
        </Link>
        <Link to="/orgs/$org/access" params={params} activeOptions={{ includeSearch: false }}>
          {nav.why}
        </Link>
        <Link to="/orgs/$org/members" params={params} activeOptions={{ includeSearch: false }}>
          {nav.members}
        </Link>
        <Link to="/orgs/$org/groups" params={params} activeOptions={{ includeSearch: false }}>
          {nav.groups}
        </Link>
        <Link to="/orgs/$org/projects" params={params} activeOptions={{ includeSearch: false }}>
          {nav.projects}
        </Link>
        <Link to="/orgs/$org/roleBindings" params={params} activeOptions={{ includeSearch: false }}>
          {nav.grants}
        </Link>
      </nav>
      <div className="screen">
        <Outlet />
      </div>
    </div>
  );
}
