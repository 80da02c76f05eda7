import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { collectionOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { RemoveGrantButton } from "./remove-grant-button.tsx";

interface GrantListProps {
  readonly parentPath: string;
  readonly words?: string | undefined;
  readonly page?: string;
  /** What the person may change; without it, the list only shows its first page. */
  readonly permissions?: Permissions;
  /** What is said below the first page where it is not all. */
  readonly more?: ReactNode;
}

/** The role bindings of an org, project or customer. */
export function GrantList({ parentPath, words, page = "", permissions, more }: GrantListProps) {
  const request = { parentPath, pageSize: 100, pageToken: page, filter: toFilter(words) };
  const options = { retry: false, placeholderData: keepPreviousData };
  const bindings = useQuery(RoleBindingsService.method.listRoleBindings, request, options);
  return (
    <Answered of={bindings}>
      {({ roleBindings: rows, nextPageToken }) => (
        <>
          {rows.length === 0 ? (
            <Empty title={words === undefined ? texts.grants.none : texts.grants.noneFound} />
          ) : (
            <Bindings rows={rows} permissions={permissions} />
          )}
          {permissions === undefined ? (
            nextPageToken !== "" && more
          ) : (
            <Pager page={page} nextPage={nextPageToken} shown={rows.length} total={undefined} />
          )}
        </>
      )}
    </Answered>
  );
}

interface BindingsProps {
  readonly rows: readonly RoleBinding[];
  readonly permissions: Permissions | undefined;
}

function Bindings({ rows, permissions }: BindingsProps) {
  const nameOf = useDisplayNames(rows.flatMap(({ subjectPath, rolePath }) => [subjectPath, rolePath]));
  const columns: Column<RoleBinding>[] = [
    {
      title: texts.columns.who,
      cell: ({ subjectPath }) => (
        <>
          <PathLink path={subjectPath} name={nameOf(subjectPath)} />{" "}
          {collectionOf(subjectPath) === "groups" ? (
            <span className="quiet-text">{texts.kinds.group.toLowerCase()}</span>
          ) : null}
        </>
      ),
    },
    { title: texts.columns.role, cell: ({ rolePath }) => <PathLink path={rolePath} name={nameOf(rolePath)} /> },
    {
      title: texts.columns.condition,
      wide: true,
      cell: ({ condition }) => (condition === "" ? null : <code>{condition}</code>),
    },
    { title: texts.columns.until, wide: true, cell: ({ expireTime }) => <Time at={expireTime} none={texts.noEnd} /> },
  ];
  if (permissions !== undefined) {
    columns.push({
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => <RemoveGrantButton binding={row} who={nameOf(row.subjectPath)} permissions={permissions} />,
    });
  }
  return <DataTable label={texts.grants.title} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}
