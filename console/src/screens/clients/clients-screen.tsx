import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Client, ClientsService } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { CodeLine } from "../../ui/code-line.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateClientDialog } from "./create-client-dialog.tsx";
import { NewClientSecret } from "./new-client-secret.tsx";

const columns: readonly Column<Client>[] = [
  { title: texts.columns.name, cell: (row) => <PathLink path={row.path} name={row.displayName || row.name} /> },
  {
    title: clientTexts.type,
    cell: ({ confidential }) => clientTexts.shortTypes[confidential ? "true" : "false"],
  },
  {
    title: clientTexts.redirectUris,
    wide: true,
    cell: ({ redirectUris }) => redirectUris.map((uri) => <CodeLine key={uri}>{uri}</CodeLine>),
  },
  { title: texts.columns.created, wide: true, cell: ({ createTime }) => <Time at={createTime} /> },
];

/** The OAuth clients of an org. */
export function ClientsScreen() {
  const { org } = useParams({ from: "/orgs/$org/clients" });
  const search = useSearch({ from: "/orgs/$org/clients" });
  const navigate = useNavigate();
  const parentPath = `/orgs/${org}`;
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<Client>();
  const permissions = usePermissions(parentPath, ["iam.clients.create"]);
  const request = { parentPath, pageSize: 100, pageToken: search.page ?? "", filter: toFilter(search.q) };
  const clients = useQuery(ClientsService.method.listClients, request, { placeholderData: keepPreviousData });
  const show = (client: Client): void => {
    if (client.secret !== undefined) setMade(client);
    else void navigate({ to: "/orgs/$org/clients/$client", params: { org, client: client.name } });
  };
  return (
    <ListPage
      words={clientTexts}
      permissions={permissions}
      permission="iam.clients.create"
      onCreate={() => setCreating(true)}
      search={search}
      notes={made && <NewClientSecret client={made} onDone={() => setMade(undefined)} />}
      of={clients}
      rowsOf={(found) => found.clients}
      table={(rows) => <DataTable label={clientTexts.title} columns={columns} rows={rows} keyOf={({ id }) => id} />}
    >
      <CreateClientDialog org={parentPath} open={creating} onClose={() => setCreating(false)} onMade={show} />
    </ListPage>
  );
}
