import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { orgOf, parentOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { useGroupsOf } from "./use-groups-of.ts";

/** The most subjects in one filter. */
const atOnce = 50;

/** The roles of a member in its org, and where each comes from: granted to itself, or to a group that it belongs to. */
export function MemberRoles({ path }: { readonly path: string }) {
  const groups = useGroupsOf(path);
  const subjects = [path, ...(groups.data ?? []).map(({ groupPath }) => groupPath)];
  const bindings = useBindingsOf(subjects, groups.isSuccess);
  return (
    <Answered of={groups}>
      {() => (
        <Answered of={bindings}>
          {(rows) => (rows.length === 0 ? <Empty title={texts.member.noRoles} /> : <Roles rows={rows} member={path} />)}
        </Answered>
      )}
    </Answered>
  );
}

function useBindingsOf(subjects: readonly string[], enabled: boolean) {
  const transport = useTransport();
  return useQuery({
    queryKey: ["role-bindings-of", subjects],
    enabled,
    retry: false,
    queryFn: async ({ signal }) => {
      const client = createClient(RoleBindingsService, transport);
      const org = orgOf(subjects[0] ?? "");
      const found: RoleBinding[] = [];
      for (let from = 0; from < subjects.length; from += atOnce) {
        const some = subjects.slice(from, from + atOnce).map((path) => JSON.stringify(path));
        const filter = `subject_path = (${some.join(" OR ")})`;
        for (const parentPath of [org, `${org}/projects/-`]) {
          found.push(
            ...(await client.listRoleBindings({ parentPath, filter, pageSize: 1_000 }, { signal })).roleBindings,
          );
        }
      }
      return found;
    },
  });
}

function Roles({ rows, member }: { readonly rows: readonly RoleBinding[]; readonly member: string }) {
  const nameOf = useDisplayNames(
    rows.flatMap(({ path, rolePath, subjectPath }) => [rolePath, subjectPath, parentOf(path)]),
  );
  const columns: readonly Column<RoleBinding>[] = [
    { title: texts.columns.role, cell: ({ rolePath }) => <PathLink path={rolePath} name={nameOf(rolePath)} /> },
    { title: texts.columns.on, cell: ({ path }) => <PathLink path={parentOf(path)} name={nameOf(parentOf(path))} /> },
    {
      title: texts.columns.from,
      cell: ({ subjectPath }) =>
        subjectPath === member ? texts.member.itself : <PathLink path={subjectPath} name={nameOf(subjectPath)} />,
    },
    { title: texts.columns.condition, wide: true, cell: ({ condition }) => <code>{condition}</code> },
    { title: texts.columns.until, wide: true, cell: ({ expireTime }) => <Time at={expireTime} none={texts.noEnd} /> },
  ];
  return <DataTable label={texts.member.tabs.roles} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}
