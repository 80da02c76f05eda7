import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { GroupMembersService, type Subgroup } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { PathLink } from "../../ui/path-link.tsx";

interface NestedGroupsProps {
  readonly group: string;
  readonly permissions: Permissions;
}

/** The groups that are nested in a group directly. */
export function NestedGroups({ group, permissions }: NestedGroupsProps) {
  const request = { parentPath: group, pageSize: 1_000 };
  const nested = useQuery(GroupMembersService.method.listSubgroups, request, { retry: false });
  const [removing, setRemoving] = useState<Subgroup>();
  const remove = useMutation(GroupMembersService.method.deleteSubgroup);
  const path = removing?.path ?? "";
  return (
    <>
      <Answered of={nested}>
        {({ subgroups }) =>
          subgroups.length === 0 ? (
            <Empty title={texts.groups.noNested} />
          ) : (
            <ul className="lines">
              {subgroups.map((subgroup) => (
                <li key={subgroup.id}>
                  <PathLink path={subgroup.groupPath} name={subgroup.displayName || subgroup.name} />
                  <span className="grow quiet-text">
                    <bdi>{subgroup.description}</bdi>
                  </span>
                  <GuardedButton
                    kind="quiet"
                    permissions={permissions}
                    permission="iam.subgroups.delete"
                    label={`${texts.groups.remove} ${subgroup.displayName || subgroup.name}`}
                    onClick={() => setRemoving(subgroup)}
                  >
                    {texts.groups.remove}
                  </GuardedButton>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
      <FormDialog
        title={`${texts.groups.remove} ${removing?.displayName ?? ""}?`}
        submit={texts.groups.remove}
        kind="danger"
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        onPreview={async () => (await remove.mutateAsync({ path, validateOnly: true })).accessPreview}
        onSubmit={() => remove.mutateAsync({ path })}
      />
    </>
  );
}
