import { Link, Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { useLiveOrg } from "../calls/use-live-org.ts";
import { texts } from "../texts/texts.ts";
import { accessScreens, connectionScreens, pastScreens, usedScreens } from "./org-screens.ts";
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
        <Link to="/orgs/$org/account" params={params}>
          {nav.account}
        </Link>
        <Part title={nav.parts.people}>
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
        </Part>
        <Part title={nav.parts.use}>
          <ProjectLinks org={org} />
          <Screens org={org} of={usedScreens} />
        </Part>
        <Part title={nav.parts.access}>
          <Screens org={org} of={accessScreens} />
        </Part>
        <Part title={nav.parts.past}>
          <Screens org={org} of={pastScreens} />
        </Part>
        <Part title={nav.parts.connections}>
          <Screens org={org} of={connectionScreens} />
        </Part>
        {live ? <span className="live">{texts.changes.live}</span> : null}
      </nav>
      <div className="screen">
        <Outlet />
      </div>
    </div>
  );
}

/** Entries that belong together, under a title. */
function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId();
  return (
    <div role="group" aria-labelledby={id} className="side-part">
      <span id={id} className="side-title">
        {title}
      </span>
      {children}
    </div>
  );
}

type OrgScreen = (typeof accessScreens | typeof usedScreens | typeof pastScreens | typeof connectionScreens)[number];

function Screens({ org, of }: { readonly org: string; readonly of: readonly OrgScreen[] }) {
  return of.map(({ to, title }) => (
    <Link key={to} to={to} params={{ org }} activeOptions={{ includeSearch: false }}>
      {title}
    </Link>
  ));
}

/** Scrolls the navigation to its current entry where the window is too narrow or too low for all. */
function useCurrentInView(path: string) {
  const side = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = side.current?.querySelector<HTMLElement>("[aria-current]");
    if (side.current === null || current === null || current === undefined) return;
    const { offsetLeft, clientWidth, clientHeight } = side.current;
    side.current.scrollLeft = current.offsetLeft - offsetLeft - (clientWidth - current.offsetWidth) / 2;
    side.current.scrollTop = current.offsetTop - (clientHeight - current.offsetHeight) / 2;
  }, [path]);
  return side;
}
