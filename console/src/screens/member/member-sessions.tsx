import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { MeService } from "../../../../gen/iam/v1alpha/me_pb.ts";
import { type Session, SessionsService } from "../../../../gen/iam/v1alpha/session_pb.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { ownSessionEnds } from "../../texts/session-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { Column } from "../../ui/data-table.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { ManyTable } from "../../ui/many/many-table.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { Said } from "../../ui/said.tsx";
import { Time } from "../../ui/time.tsx";
import type { TabProps } from "./tab-props.ts";

const nameOf = ({ clientDisplayName, clientId }: Session): string =>
  clientDisplayName || (clientId === "browser" ? texts.member.browser : clientId);

const introOf = (session: Session, isOwn: boolean) => (
  <>
    {texts.member.endIntro.before} <bdi>{nameOf(session)}</bdi> {texts.member.endIntro.after}
    {isOwn ? ` ${ownSessionEnds}` : null}
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
  const endAll = useEndOfMany();
  const isThis = ({ path: each }: Session): boolean => each === me.data?.credential?.sessionPath;
  const columns: readonly Column<Session>[] = [
    {
      title: texts.columns.client,
      cell: (row) => (
        <>
          <bdi>{nameOf(row)}</bdi>
          {isThis(row) ? <span className="quiet-text"> {texts.member.thisBrowser}</span> : null}
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
            <ManyTable
              label={texts.member.tabs.sessions}
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              nameOf={(row) =>
                [nameOf(row), row.userAgent, isThis(row) ? texts.member.thisBrowser : ""].join(" ").trim()
              }
              copiedOf={(row) => ({ name: nameOf(row), path: row.path, id: row.id })}
              nouns={manyTexts.nouns.session}
              permissions={permissions}
              actions={[endAll]}
            />
          )
        }
      </Answered>
      <EndDialog session={ending} isOwn={ending !== undefined && isThis(ending)} onClose={() => setEnding(undefined)} />
    </>
  );
}

/** Ends several sessions. */
function useEndOfMany(): ManyAction<Session> {
  const end = useMutation(SessionsService.method.deleteSession);
  return {
    act: texts.member.end,
    done: texts.done.ended,
    intro: texts.member.endManyIntro,
    kind: "danger",
    permission: "iam.sessions.delete",
    run: { each: ({ path }) => end.mutateAsync({ path }) },
  };
}

interface EndDialogProps {
  /** As it was when somebody asked to end it; undefined while nobody does. */
  readonly session: Session | undefined;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

function EndDialog({ session, isOwn, onClose }: EndDialogProps) {
  const end = useMutation(SessionsService.method.deleteSession);
  return (
    <FormDialog
      title={texts.member.endQuestion}
      intro={session && introOf(session, isOwn)}
      submit={texts.member.end}
      done={session && <Said what={texts.member.ended} name={nameOf(session)} />}
      kind="danger"
      open={session !== undefined}
      onClose={onClose}
      onSubmit={() => end.mutateAsync({ path: session?.path ?? "" })}
    />
  );
}
