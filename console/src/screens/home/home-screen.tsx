import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../../app/use-session.ts";
import { nameOf, systemOrg } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { CreateOrgDialog } from "./create-org-dialog.tsx";
import { OrgList, OrgStateFilter, useOrgs } from "./org-list.tsx";

/** The orgs of the person, and those that it may list. */
export function HomeScreen() {
  const me = useSession();
  const permissions = usePermissions("", ["iam.orgs.create", "iam.orgs.list"]);
  const [creating, setCreating] = useState(false);
  const navigate = useNavigate();
  return (
    <Page
      title={texts.orgs.title}
      intro={texts.orgs.intro}
      actions={
        <>
          {permissions.may("iam.orgs.list") === true ? (
            <Link to="/platform" className="button plain">
              {texts.orgs.openPlatform}
            </Link>
          ) : null}
          <GuardedButton
            kind="primary"
            permissions={permissions}
            permission="iam.orgs.create"
            onClick={() => setCreating(true)}
          >
            {texts.orgs.create}
          </GuardedButton>
        </>
      }
    >
      <Section title={texts.orgs.mine}>
        <ul className="cards">
          {me.members.map(({ member, org, displayName }) => (
            <li key={member} className="card">
              <strong>
                <PathLink path={org.path} name={org.displayName || nameOf(org.path)} />
              </strong>
              <span className="quiet-text">
                {texts.orgs.as} <PathLink path={member} name={displayName || nameOf(member)} />
              </span>
            </li>
          ))}
        </ul>
      </Section>
      <AllOrgs />
      <CreateOrgDialog
        open={creating}
        onClose={() => setCreating(false)}
        onCreated={(path) => void navigate({ to: "/orgs/$org", params: { org: nameOf(path) } })}
      />
    </Page>
  );
}

/** What the person may list beyond its own: none for most. */
function AllOrgs() {
  const { q, page, state } = useSearch({ from: "/" });
  const orgs = useOrgs();
  if (orgs.error !== null && q === undefined && state === undefined) return null;
  const found = orgs.data?.orgs ?? [];
  if (
    q === undefined &&
    page === undefined &&
    state === undefined &&
    found.length === 1 &&
    found[0]?.path === systemOrg
  ) {
    return (
      <Empty title={texts.orgs.first}>
        <p>{texts.orgs.firstHint}</p>
      </Empty>
    );
  }
  return (
    <Section
      title={texts.orgs.all}
      actions={
        <>
          <SearchBox label={texts.orgs.search} value={q ?? ""} />
          <OrgStateFilter />
        </>
      }
    >
      <OrgList of={orgs} parentPath="" />
    </Section>
  );
}
