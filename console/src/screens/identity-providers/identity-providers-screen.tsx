import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type IdentityProvider, IdentityProvidersService } from "../../../../gen/iam/v1alpha/identity_provider_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { providerTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateProviderDialog } from "./create-provider-dialog.tsx";

const columns: readonly Column<IdentityProvider>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  { title: providerTexts.issuer, cell: ({ issuer }) => <code>{issuer}</code> },
  { title: texts.columns.created, wide: true, cell: ({ createTime }) => <Time at={createTime} /> },
];

/** The identity providers of an org. */
export function IdentityProvidersScreen() {
  const { org } = useParams({ from: "/orgs/$org/identityProviders" });
  const search = useSearch({ from: "/orgs/$org/identityProviders" });
  const [creating, setCreating] = useState(false);
  const parentPath = `/orgs/${org}`;
  const permissions = usePermissions(parentPath, ["iam.identityProviders.create"]);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const options = { placeholderData: keepPreviousData };
  const providers = useQuery(IdentityProvidersService.method.listIdentityProviders, request, options);
  return (
    <ListPage
      words={providerTexts}
      permissions={permissions}
      permission="iam.identityProviders.create"
      onCreate={() => setCreating(true)}
      search={search}
      of={providers}
      rowsOf={(found) => found.identityProviders}
      table={(rows) => <DataTable label={providerTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    >
      <CreateProviderDialog org={parentPath} open={creating} onClose={() => setCreating(false)} />
    </ListPage>
  );
}
