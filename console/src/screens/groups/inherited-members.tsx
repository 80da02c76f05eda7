import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { GroupMembersService } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";

interface Inherited {
  readonly memberPath: string;
  readonly displayName: string;
  /** The nested group that has the member itself. */
  readonly through: string;
}

/** The most nested groups whose members are read; a screen shows no more. */
const mostGroups = 50;

/** The members that a group has through the groups nested in it, with the one that each is in. */
export function InheritedMembers({ group }: { readonly group: string }) {
  const inherited = useInherited(group);
  const nothing = inherited.data?.rows.length === 0;
  if (nothing) return null;
  return (
    <Section title={texts.groups.inherited}>
      <Answered of={inherited}>
        {({ rows, whole }) => (
          <>
            <Rows rows={rows} />
            {whole ? null : <p className="quiet-text">{texts.groups.notWhole}</p>}
          </>
        )}
      </Answered>
    </Section>
  );
}

function useInherited(group: string) {
  const transport = useTransport();
  return useQuery({
    queryKey: ["inherited-members", group],
    retry: false,
    queryFn: async ({ signal }) => {
      const client = createClient(GroupMembersService, transport);
      const rows: Inherited[] = [];
      const seen = new Set([group]);
      const queue = [group];
      let whole = true;
      for (let path = queue.shift(); path !== undefined && seen.size <= mostGroups; path = queue.shift()) {
        const [members, nested] = await Promise.all([
          path === group ? undefined : client.listGroupMembers({ parentPath: path, pageSize: 1_000 }, { signal }),
          client.listSubgroups({ parentPath: path, pageSize: 1_000 }, { signal }),
        ]);
        const through = path;
        rows.push(
          ...(members?.members ?? []).map(({ memberPath, displayName }) => ({ memberPath, displayName, through })),
        );
        whole &&= (members?.nextPageToken ?? "") === "" && nested.nextPageToken === "";
        for (const { groupPath } of nested.subgroups) {
          if (!seen.has(groupPath)) queue.push(groupPath);
          seen.add(groupPath);
        }
      }
      return { rows, whole: whole && queue.length === 0 };
    },
  });
}

function Rows({ rows }: { readonly rows: readonly Inherited[] }) {
  const nameOf = useDisplayNames([...new Set(rows.map(({ through }) => through))]);
  const columns: readonly Column<Inherited>[] = [
    { title: texts.columns.name, cell: (row) => <PathLink path={row.memberPath} name={row.displayName} /> },
    { title: texts.groups.through, cell: ({ through }) => <PathLink path={through} name={nameOf(through)} /> },
  ];
  const keyOf = ({ memberPath, through }: Inherited): string => `${memberPath} ${through}`;
  return <DataTable label={texts.groups.inherited} columns={columns} rows={rows} keyOf={keyOf} />;
}
