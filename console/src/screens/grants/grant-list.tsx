import { useMutation, useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type RoleBinding, RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { toFilter } from "../../app/list-search.ts";
import { collectionOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ManyTable } from "../../ui/many/many-table.tsx";
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
            <Bindings parentPath={parentPath} rows={rows} permissions={permissions} />
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
  readonly parentPath: string;
  readonly rows: readonly RoleBinding[];
  readonly permissions: Permissions | undefined;
}

function Bindings({ parentPath, rows, permissions }: BindingsProps) {
  const remove = useMutation(RoleBindingsService.method.batchDeleteRoleBindings);
  const nameOf = useDisplayNames(rows.flatMap(({ subjectPath, rolePath }) => [subjectPath, rolePath]));
  const columns: readonly Column<RoleBinding>[] = [
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
      cell: ({ condition }) =>
        condition === "" ? <span className="quiet-text">{texts.grants.always}</span> : <code>{condition}</code>,
    },
    { title: texts.columns.until, wide: true, cell: ({ expireTime }) => <Time at={expireTime} none={texts.noEnd} /> },
  ];
  const table = { label: texts.grants.title, rows, keyOf: ({ id }: RoleBinding) => id };
  if (permissions === undefined) return <DataTable {...table} columns={columns} />;
  const actions: Column<RoleBinding> = {
    title: texts.columns.actions,
    numeric: true,
    cell: (row) => <RemoveGrantButton binding={row} who={nameOf(row.subjectPath)} permissions={permissions} />,
  };
  const titleOf = ({ rolePath, subjectPath }: RoleBinding) =>
    texts.grants.roleOf(nameOf(rolePath), nameOf(subjectPath));
  // Another binding may have got the name of one meanwhile, but not its id.
  const request = (some: readonly RoleBinding[]) => ({
    parentPath,
    paths: some.map(({ id }) => `${parentPath}/roleBindings/@${id}`),
    etags: some.map(({ etag }) => etag),
  });
  return (
    <ManyTable
      {...table}
      columns={[...columns, actions]}
      nameOf={titleOf}
      copiedOf={(row) => ({ name: titleOf(row), path: row.path, id: row.id })}
      nouns={manyTexts.nouns.grant}
      permissions={permissions}
      actions={[
        {
          act: texts.grants.remove,
          done: texts.grants.removed,
          kind: "danger",
          permission: "iam.roleBindings.delete",
          run: {
            together: (some) => remove.mutateAsync(request(some)),
            preview: async (some) => (await remove.mutateAsync({ ...request(some), validateOnly: true })).accessPreview,
          },
        },
      ]}
    />
  );
}
