import { Link, Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useLiveOrg } from "../calls/use-live-org.ts";
import { texts } from "../texts/texts.ts";
import { ProjectLinks } from "./project-links.tsx";

/** The navigation of an org, beside its screens. */
export function OrgFrame() {
  const { org } = useParams({ from: "/orgs/$org" });
  const params = { org };
  const live = useLiveOrg(`/orgs/${org}`);
  const { nav } = texts;
  const side = useCurrentInView(useLocation().pathname);
  return (
    <div className="org-frame">
      <nav ref={side} className="side" aria-label={nav.label}>
        <Link to="/orgs/$org" params={params} activeOptions={{ exact: true, includeSearch: false }}>
          {nav.overview}
        </Link>
        <Link to="/orgs/$org/access" params={params} activeOptions={{ includeSearch: false }}>
          {nav.why}
        </Link>
        <Link
          to="/orgs/$org/members"
          params={params}
          search={{ type: undefined }}
          activeOptions={{ explicitUndefined: true }}
        >
          {nav.members}
        </Link>
        <Link to="/orgs/$org/members" params={params} search={{ type: "APPLICATION" }}>
          {nav.accounts}
        </Link>
        <Link to="/orgs/$org/groups" params={params} activeOptions={{ includeSearch: false }}>
          {nav.groups}
        </Link>
        <ProjectLinks org={org} />
        <Link to="/orgs/$org/quota" params={params} activeOptions={{ includeSearch: false }}>
          {nav.quota}
        </Link>
        <Link to="/orgs/$org/usage" params={params} activeOptions={{ includeSearch: false }}>
          {nav.usage}
        </Link>
        <Link to="/orgs/$org/roleBindings" params={params} activeOptions={{ includeSearch: false }}>
          {nav.grants}
        </Link>
        <Link to="/orgs/$org/roles" params={params} activeOptions={{ includeSearch: false }}>
          {nav.roles}
        </Link>
        <Link to="/orgs/$org/findings" params={params} activeOptions={{ includeSearch: false }}>
          {nav.findings}
        </Link>
        <Link to="/orgs/$org/changes" params={params} activeOptions={{ includeSearch: false }}>
          {nav.changes}
        </Link>
        <Link to="/orgs/$org/past" params={params} activeOptions={{ includeSearch: false }}>
          {nav.past}
        </Link>
        <Link to="/orgs/$org/webhooks" params={params} activeOptions={{ includeSearch: false }}>
          {nav.webhooks}
        </Link>
        <Link to="/orgs/$org/eventStreams" params={params} activeOptions={{ includeSearch: false }}>
          {nav.eventStreams}
        </Link>
        <Link to="/orgs/$org/clients" params={params} activeOptions={{ includeSearch: false }}>
          {nav.clients}
        </Link>
        <Link to="/orgs/$org/identityProviders" params={params} activeOptions={{ includeSearch: false }}>
          {nav.identityProviders}
        </Link>
        {live ? <span className="live">{texts.changes.live}</span> : null}
      </nav>
      <div className="screen">
        <Outlet />
      </div>
    </div>
  );
}

/** Scrolls the navigation to its current entry where the window is too narrow for all. */
function useCurrentInView(path: string) {
  const side = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = side.current?.querySelector<HTMLElement>("[aria-current]");
    if (side.current === null || current === null || current === undefined) return;
    const { offsetLeft, clientWidth } = side.current;
    side.current.scrollLeft = current.offsetLeft - offsetLeft - (clientWidth - current.offsetWidth) / 2;
  }, [path]);
  return side;
}
