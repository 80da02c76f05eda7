import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { GroupMembersService, type Subgroup } from "../../../../gen/iam/v1alpha/group_member_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { moveTexts } from "../../texts/move-texts.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { MoveDialog } from "./move-dialog.tsx";

interface NestedGroupsProps {
  readonly group: string;
  readonly permissions: Permissions;
}

/** The groups that are nested in a group directly. */
export function NestedGroups({ group, permissions }: NestedGroupsProps) {
  const request = { parentPath: group, pageSize: 1_000 };
  const nested = useQuery(GroupMembersService.method.listSubgroups, request, { retry: false });
  const [moving, setMoving] = useState<Subgroup>();
  const [removing, setRemoving] = useState<Subgroup>();
  const remove = useMutation(GroupMembersService.method.deleteSubgroup);
  const etag = removing?.etag ?? "";
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
                    label={`${moveTexts.move} ${subgroup.displayName || subgroup.name}`}
                    onClick={() => setMoving(subgroup)}
                  >
                    {moveTexts.move}
                  </GuardedButton>
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
      <MoveDialog moved={moving} onClose={() => setMoving(undefined)} />
      <RemovalDialog
        words={texts.groups.remove}
        said={texts.done.removed}
        removed={removing}
        onClose={() => setRemoving(undefined)}
        onPreview={async (path) => (await remove.mutateAsync({ path, etag, validateOnly: true })).accessPreview}
        onRemove={(path) => remove.mutateAsync({ path, etag })}
      />
    </>
  );
}
