import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Org, OrgsService, Org_StateSchema } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { useSession } from "../../app/use-session.ts";
import { nameOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateOrgDialog } from "./create-org-dialog.tsx";

const columns: readonly Column<Org>[] = [
  { title: texts.columns.name, cell: (org) => <PathLink path={org.path} name={org.displayName || org.name} /> },
  { title: texts.columns.path, wide: true, cell: (org) => <code>{org.path}</code> },
  { title: texts.columns.state, cell: (org) => <StateBadge of={Org_StateSchema} value={org.state} /> },
  { title: texts.columns.created, wide: true, cell: (org) => <Time at={org.createTime} /> },
];

/** The orgs of the person, and those that it may list. */
export function HomeScreen() {
  const me = useSession();
  const permissions = usePermissions("", ["iam.orgs.create"]);
  const [creating, setCreating] = useState(false);
  const navigate = useNavigate();
  return (
    <Page
      title={texts.orgs.title}
      intro={texts.orgs.intro}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.orgs.create"
          onClick={() => setCreating(true)}
        >
          {texts.orgs.create}
        </GuardedButton>
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
  const { q, page = "" } = useSearch({ from: "/" });
  const request = { pageSize: 100, filter: toFilter(q), pageToken: page };
  const orgs = useQuery(OrgsService.method.listOrgs, request, { placeholderData: keepPreviousData, retry: false });
  if (orgs.error !== null && q === undefined) return null;
  return (
    <Section title={texts.orgs.all} actions={<SearchBox label={texts.orgs.search} value={q ?? ""} />}>
      <Answered of={orgs}>
        {({ orgs: rows, nextPageToken }) => (
          <>
            {rows.length === 0 ? (
              <Empty title={texts.orgs.noneFound} />
            ) : (
              <DataTable label={texts.orgs.all} columns={columns} rows={rows} keyOf={(org) => org.id} />
            )}
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          </>
        )}
      </Answered>
    </Section>
  );
}
