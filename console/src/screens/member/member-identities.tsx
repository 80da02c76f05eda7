import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { IdentitiesService, type Identity, Identity_StateSchema } from "../../../../gen/iam/v1alpha/identity_pb.ts";
import { identityTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { LinkIdentityDialog } from "./link-identity-dialog.tsx";
import type { TabProps } from "./tab-props.ts";

/** The accounts elsewhere with which a member signs in. */
export function MemberIdentities({ path: member, permissions }: TabProps) {
  const identities = useQuery(
    IdentitiesService.method.listIdentities,
    { parentPath: member, pageSize: 1_000 },
    { retry: false },
  );
  const [linking, setLinking] = useState(false);
  const [unlinking, setUnlinking] = useState<Identity>();
  const remove = useMutation(IdentitiesService.method.deleteIdentity);
  const columns: readonly Column<Identity>[] = [
    { title: texts.columns.name, cell: (row) => <bdi>{row.displayName || row.name}</bdi> },
    { title: texts.columns.provider, wide: true, cell: (row) => <bdi>{row.issuer}</bdi> },
    { title: texts.columns.subject, wide: true, cell: (row) => <code>{row.subject}</code> },
    { title: texts.columns.state, cell: (row) => <StateBadge of={Identity_StateSchema} value={row.state} /> },
    { title: texts.columns.created, wide: true, cell: (row) => <Time at={row.createTime} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.identities.delete"
          label={`${texts.delete} ${row.displayName || row.name}`}
          onClick={() => setUnlinking(row)}
        >
          {texts.delete}
        </GuardedButton>
      ),
    },
  ];
  return (
    <>
      <div className="panel-head">
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.identities.create"
          onClick={() => setLinking(true)}
        >
          {identityTexts.link}
        </GuardedButton>
      </div>
      <Answered of={identities}>
        {({ identities: rows }) =>
          rows.length === 0 ? (
            <Empty title={texts.member.noIdentities}>
              <p>{texts.member.noIdentitiesHint}</p>
            </Empty>
          ) : (
            <DataTable label={texts.member.tabs.identities} columns={columns} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Answered>
      <LinkIdentityDialog member={member} open={linking} onClose={() => setLinking(false)} />
      <RemovalDialog
        words={texts.delete}
        intro={texts.member.unlinkIntro}
        removed={unlinking}
        onClose={() => setUnlinking(undefined)}
        onRemove={(path) => remove.mutateAsync({ path, etag: unlinking?.etag ?? "" })}
      />
    </>
  );
}
