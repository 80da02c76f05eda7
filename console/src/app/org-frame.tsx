import { Link, Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useLiveOrg } from "../calls/use-live-org.ts";
import { texts } from "../texts/texts.ts";
import { laterScreens } from "./org-screens.ts";
import { ProjectLinks } from "./project-links.tsx";

const { nav } = texts;

/** The navigation of an org, beside its screens. */
export function OrgFrame() {
  const { org } = useParams({ from: "/orgs/$org" });
  const params = { org };
  const live = useLiveOrg(`/orgs/${org}`);
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
        {laterScreens.map(({ to, title }) => (
          <Link key={to} to={to} params={params} activeOptions={{ includeSearch: false }}>
            {title}
          </Link>
        ))}
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
