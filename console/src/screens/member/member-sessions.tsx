import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { MeService } from "../../../../gen/iam/v1alpha/me_pb.ts";
import { type Session, SessionsService } from "../../../../gen/iam/v1alpha/session_pb.ts";
import { texts } from "../../texts/texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Time } from "../../ui/time.tsx";
import type { TabProps } from "./tab-props.ts";

const nameOf = ({ clientDisplayName, clientId }: Session): string =>
  clientDisplayName || (clientId === "browser" ? texts.member.browser : clientId);

const introOf = (session: Session) => (
  <>
    {texts.member.endIntro.before} <bdi>{nameOf(session)}</bdi> {texts.member.endIntro.after}
  </>
);

/** Where a member is signed in. */
export function MemberSessions({ path, permissions }: TabProps) {
  const sessions = useQuery(
    SessionsService.method.listSessions,
    { parentPath: path, pageSize: 1_000 },
    { retry: false },
  );
  const me = useQuery(MeService.method.getMe, {});
  const [ending, setEnding] = useState<Session>();
  const end = useMutation(SessionsService.method.deleteSession);
  const columns: readonly Column<Session>[] = [
    {
      title: texts.columns.client,
      cell: (row) => (
        <>
          <bdi>{nameOf(row)}</bdi>
          {row.path === me.data?.credential?.sessionPath ? (
            <span className="quiet-text"> {texts.member.thisBrowser}</span>
          ) : null}
        </>
      ),
    },
    { title: texts.columns.userAgent, wide: true, cell: (row) => <bdi>{row.userAgent}</bdi> },
    { title: texts.columns.begun, cell: (row) => <Time at={row.createTime} /> },
    { title: texts.columns.until, wide: true, cell: (row) => <Time at={row.expireTime} /> },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <GuardedButton
          kind="quiet"
          permissions={permissions}
          permission="iam.sessions.delete"
          label={`${texts.member.end} ${nameOf(row)}`}
          onClick={() => setEnding(row)}
        >
          {texts.member.end}
        </GuardedButton>
      ),
    },
  ];
  return (
    <>
      <Answered of={sessions}>
        {({ sessions: rows }) =>
          rows.length === 0 ? (
            <Empty title={texts.member.noSessions} />
          ) : (
            <DataTable label={texts.member.tabs.sessions} columns={columns} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Answered>
      <FormDialog
        title={texts.member.endQuestion}
        intro={ending === undefined ? undefined : introOf(ending)}
        submit={texts.member.end}
        kind="danger"
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onSubmit={() => end.mutateAsync({ path: ending?.path ?? "" })}
      />
    </>
  );
}
