import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Member_StateSchema, MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { type ScimSource, ScimSourcesService } from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { nameOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateSourceDialog } from "./create-source-dialog.tsx";

/** The SCIM sources of an org: which directories manage members here, and as which applications. */
export function ScimSourcesScreen() {
  const { org } = useParams({ from: "/orgs/$org/scimSources" });
  const search = useSearch({ from: "/orgs/$org/scimSources" });
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.scimSources.create"]);
  const [creating, setCreating] = useState(false);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const options = { placeholderData: keepPreviousData };
  const sources = useQuery(ScimSourcesService.method.listScimSources, request, options);
  return (
    <ListPage
      words={scimTexts}
      permissions={permissions}
      permission="iam.scimSources.create"
      onCreate={() => setCreating(true)}
      search={search}
      of={sources}
      rowsOf={(found) => found.scimSources}
      table={(rows) => <SourceTable org={parentPath} rows={rows} />}
    >
      <CreateSourceDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}

interface SourceTableProps {
  readonly org: string;
  readonly rows: readonly ScimSource[];
}

function SourceTable({ org, rows }: SourceTableProps) {
  const paths = rows.flatMap(({ memberPath }) => (memberPath === "" ? [] : [memberPath]));
  const request = { parentPath: org, paths };
  const { data } = useQuery(MembersService.method.batchGetMembers, request, {
    enabled: paths.length > 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const members = new Map(data?.members.map((member) => [member.path, member]));
  const columns: readonly Column<ScimSource>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
    {
      title: scimTexts.actsAs,
      cell: ({ memberPath }) => {
        if (memberPath === "") return <span className="badge suspended">{scimTexts.nobody}</span>;
        const member = members.get(memberPath);
        return (
          <>
            <PathLink path={memberPath} name={member?.displayName || nameOf(memberPath)} />{" "}
            {member === undefined ? null : <StateBadge of={Member_StateSchema} value={member.state} />}
          </>
        );
      },
    },
    {
      title: texts.columns.provider,
      wide: true,
      cell: ({ identityProviderPath: path }) => (path === "" ? texts.none : <PathLinks paths={[path]} />),
    },
    { title: texts.columns.created, wide: true, cell: ({ createTime }) => <Time at={createTime} /> },
  ];
  return <DataTable label={scimTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} copiedOf={copiedOf} />;
}
