import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { NewSecret } from "./new-secret.tsx";
import type { TabProps } from "./tab-props.ts";

/** The API keys of a member. The secret of a new one is shown once. */
export function MemberKeys({ path: member, permissions }: TabProps) {
  const keys = useQuery(ApiKeysService.method.listApiKeys, { parentPath: member, pageSize: 1_000 }, { retry: false });
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<ApiKey>();
  const [deleting, setDeleting] = useState<ApiKey>();
  const remove = useMutation(ApiKeysService.method.deleteApiKey);
  const columns: readonly Column<ApiKey>[] = [
    { title: texts.columns.name, cell: (row) => <bdi>{row.displayName || row.name}</bdi> },
    { title: texts.columns.prefix, wide: true, cell: (row) => <code>{row.prefix}…</code> },
    { title: texts.columns.lastUse, cell: (row) => <Time at={row.lastUseTime} none={texts.never} /> },
    { title: texts.columns.until, wide: true, cell: (row) => <Time at={row.expireTime} none={texts.noEnd} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.apiKeys.delete"
          label={`${texts.delete} ${row.displayName || row.name}`}
          onClick={() => setDeleting(row)}
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
          permission="iam.apiKeys.create"
          onClick={() => setCreating(true)}
        >
          {texts.keys.create}
        </GuardedButton>
      </div>
      {made === undefined ? null : <NewSecret apiKey={made} onDone={() => setMade(undefined)} />}
      <Answered of={keys}>
        {({ apiKeys: rows }) =>
          rows.length === 0 ? (
            <Empty title={texts.keys.none} />
          ) : (
            <DataTable label={texts.member.tabs.keys} columns={columns} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Answered>
      <CreateKeyDialog member={member} open={creating} onClose={() => setCreating(false)} onMade={setMade} />
      <RemovalDialog
        words={texts.delete}
        intro={texts.keys.deleteIntro}
        removed={deleting}
        onClose={() => setDeleting(undefined)}
        onRemove={(path) => remove.mutateAsync({ path })}
      />
    </>
  );
}
