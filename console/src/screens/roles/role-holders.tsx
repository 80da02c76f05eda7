import { useQuery } from "@connectrpc/connect-query";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";

interface RoleHoldersProps {
  readonly org: string;
  readonly role: string;
}

/** Who is granted a role: on the org, and on its projects. */
export function RoleHolders({ org, role }: RoleHoldersProps) {
  const filter = `role_path = ${JSON.stringify(role)}`;
  const request = { filter, pageSize: 1_000 };
  const mayList = usePermissions(org, ["iam.roleBindings.list"]).may("iam.roleBindings.list");
  const options = { retry: false, enabled: mayList === true };
  const method = RoleBindingsService.method.listRoleBindings;
  const onOrg = useQuery(method, { ...request, parentPath: org }, options);
  const onProjects = useQuery(method, { ...request, parentPath: `${org}/projects/-` }, options);
  if (mayList === false) return <p className="quiet-text">{texts.roles.holdersHidden}</p>;
  return (
    <Answered of={onOrg}>
      {(first) => (
        <Answered of={onProjects}>
          {(second) => (
            <>
              <Holders rows={[...first.roleBindings, ...second.roleBindings]} />
              {first.nextPageToken === "" && second.nextPageToken === "" ? null : (
                <p className="quiet-text">{texts.roles.someHolders}</p>
              )}
            </>
          )}
        </Answered>
      )}
    </Answered>
  );
}

function Holders({ rows }: { readonly rows: readonly RoleBinding[] }) {
  const nameOf = useDisplayNames(rows.flatMap(({ path, subjectPath }) => [subjectPath, parentOf(path)]));
  if (rows.length === 0) {
    return (
      <Empty title={texts.roles.noHolders}>
        <p>{texts.roles.noHoldersHint}</p>
      </Empty>
    );
  }
  const columns: readonly Column<RoleBinding>[] = [
    { title: texts.columns.who, cell: (row) => <PathLink path={row.subjectPath} name={nameOf(row.subjectPath)} /> },
    { title: texts.columns.on, cell: ({ path }) => <PathLink path={parentOf(path)} name={nameOf(parentOf(path))} /> },
    { title: texts.columns.condition, wide: true, cell: ({ condition }) => <code>{condition}</code> },
    { title: texts.columns.until, wide: true, cell: ({ expireTime }) => <Time at={expireTime} none={texts.noEnd} /> },
  ];
  return <DataTable label={texts.roles.holders} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}
