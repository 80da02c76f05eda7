import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { Column } from "../../ui/data-table.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { ManyTable } from "../../ui/many/many-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { copiedOf } from "../../ui/row-menu.tsx";
import { Time } from "../../ui/time.tsx";
import type { TabProps } from "./tab-props.ts";
import { useReplacement } from "./use-replacement.tsx";

/** The keys of the operator, one of which the first start writes to a file. */
const ofOperator = "/orgs/system/members/operator/";

interface KeyListProps extends TabProps {
  /** Called with each key that replaces another one. */
  readonly onMade: (key: ApiKey) => void;
}

/** The API keys that a member has. */
export function KeyList({ path: member, permissions, onMade }: KeyListProps) {
  const keys = useQuery(ApiKeysService.method.listApiKeys, { parentPath: member, pageSize: 1_000 }, { retry: false });
  const [deleting, setDeleting] = useState<ApiKey>();
  const replaceAll = useReplacement(keys.data?.apiKeys ?? [], onMade);
  const removeAll = useDeletionOfMany(member);
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
      <Answered of={keys}>
        {({ apiKeys: rows }) =>
          rows.length === 0 ? (
            <Empty title={texts.keys.none}>
              <p>{secretTexts.keys.noneHint}</p>
            </Empty>
          ) : (
            <ManyTable
              label={texts.member.tabs.keys}
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              nameOf={({ displayName, name }) => displayName || name}
              copiedOf={copiedOf}
              nouns={manyTexts.nouns.key}
              permissions={permissions}
              actions={[replaceAll, removeAll]}
            />
          )
        }
      </Answered>
      <DeleteDialog apiKey={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

/** Deletes several keys of a member. */
function useDeletionOfMany(member: string): ManyAction<ApiKey> {
  const remove = useMutation(ApiKeysService.method.batchDeleteApiKeys);
  return {
    act: texts.delete,
    done: texts.done.deleted,
    intro: texts.keys.deleteManyIntro,
    kind: "danger",
    permission: "iam.apiKeys.delete",
    run: {
      // Another key may have got the name of one meanwhile, but not its id.
      together: (some) =>
        remove.mutateAsync({
          parentPath: member,
          paths: some.map(({ id }) => `${member}/apiKeys/@${id}`),
          etags: some.map(({ etag }) => etag),
        }),
    },
  };
}

interface DeleteDialogProps {
  /** As it was when somebody asked to delete it; undefined while nobody does. */
  readonly apiKey: ApiKey | undefined;
  readonly onClose: () => void;
}

function DeleteDialog({ apiKey, onClose }: DeleteDialogProps) {
  const remove = useMutation(ApiKeysService.method.deleteApiKey);
  return (
    <RemovalDialog
      words={texts.delete}
      intro={apiKey?.path.startsWith(ofOperator) ? secretTexts.keys.ofOperator : texts.keys.deleteIntro}
      removed={apiKey}
      onClose={onClose}
      onRemove={(path) => remove.mutateAsync({ path, etag: apiKey?.etag ?? "" })}
    />
  );
}
