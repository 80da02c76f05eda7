import { useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type AccessRequest,
  AccessRequest_State,
  AccessRequest_StateSchema,
  AccessRequestsService,
} from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { useSession } from "../../app/use-session.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { usePermissionsOn, weakestOf } from "../../calls/use-permissions-on.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { manyTexts } from "../../texts/many-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { Column } from "../../ui/data-table.tsx";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { ManyTable } from "../../ui/many/many-table.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { TextAreaField, valueOf } from "../../ui/text-field.tsx";
import { Time } from "../../ui/time.tsx";
import { AnswerButtons, answerPermissions, useAnswers } from "./answers.tsx";
import { Progress } from "./progress.tsx";

interface RequestTableProps {
  readonly label?: string;
  readonly permissions: Permissions;
  readonly rows: readonly AccessRequest[];
}

/** Requests for access. Those that wait are decided one by one, or several at once with the same words. */
export function RequestTable({ label = accessRequestTexts.title, permissions, rows }: RequestTableProps) {
  const { answer, dialogs } = useAnswers();
  const nameIn = useDisplayNames(rows.flatMap((row) => [row.memberPath, row.rolePath, row.resourcePath]));
  const titleOf = ({ memberPath, rolePath, resourcePath }: AccessRequest): string =>
    accessRequestTexts.titleFor(nameIn(rolePath), nameIn(resourcePath), nameIn(memberPath));
  const columns: readonly Column<AccessRequest>[] = [
    { title: accessRequestTexts.role, cell: (row) => <What request={row} /> },
    {
      title: texts.columns.who,
      cell: ({ path, memberPath, createTime }) => (
        <>
          <PathLinks paths={[memberPath]} />{" "}
          <Link to={path}>
            <Time at={createTime} />
          </Link>
        </>
      ),
    },
    {
      title: texts.columns.state,
      wide: true,
      cell: (row) => (
        <>
          <StateBadge of={AccessRequest_StateSchema} value={row.state} />
          <Progress request={row} /> <Outcome request={row} />
        </>
      ),
    },
    {
      title: texts.columns.actions,
      numeric: true,
      cell: (row) => (
        <span className="actions end">
          <AnswerButtons request={row} answer={answer} />
        </span>
      ),
    },
  ];
  return (
    <>
      <ManyTable
        label={label}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        nameOf={titleOf}
        copiedOf={(row) => ({ name: titleOf(row), path: row.path, id: row.id })}
        nouns={manyTexts.nouns.request}
        permissions={permissions}
        actions={useDecisions(rows)}
      />
      {dialogs}
    </>
  );
}

/** Approves or declines several requests: each as if it were answered alone, because each is of its own role. */
function useDecisions(rows: readonly AccessRequest[]): readonly ManyAction<AccessRequest>[] {
  const approve = useMutation(AccessRequestsService.method.approveAccessRequest);
  const decline = useMutation(AccessRequestsService.method.declineAccessRequest);
  const me = useSession().member;
  const waiting = rows.filter(({ state }) => state === AccessRequest_State.PENDING);
  const onResource = usePermissionsOn(
    waiting.map(({ resourcePath }) => resourcePath),
    answerPermissions,
  );
  const [permission = ""] = answerPermissions;
  const decision = {
    permission,
    permissionsOf: (some: readonly AccessRequest[]) =>
      weakestOf(
        some.map(({ resourcePath }) => onResource(resourcePath)),
        permission,
      ),
    // Nobody decides about a request of their own, or approves twice.
    fits: ({ state, memberPath, requiredApprovals, firstApproval }: AccessRequest) =>
      state === AccessRequest_State.PENDING &&
      memberPath !== me &&
      (requiredApprovals < 2 || firstApproval?.deciderPath !== me),
    fields: ["message"],
    form: <TextAreaField name="message" label={texts.requests.message} />,
  };
  return [
    {
      ...decision,
      act: accessRequestTexts.approve,
      done: texts.done.approved,
      intro: accessRequestTexts.approveManyIntro,
      kind: "primary",
      run: {
        each: ({ path, etag }, form) => approve.mutateAsync({ path, etag, message: valueOf(form, "message") }),
      },
    },
    {
      ...decision,
      act: accessRequestTexts.decline,
      done: texts.done.declined,
      intro: accessRequestTexts.declineIntro,
      run: {
        each: ({ path, etag }, form) => decline.mutateAsync({ path, etag, message: valueOf(form, "message") }),
      },
    },
  ];
}

function What({ request: { rolePath, resourcePath, expireTime, reason } }: { readonly request: AccessRequest }) {
  return (
    <>
      <strong>
        <PathLinks paths={[rolePath]} />
      </strong>{" "}
      {accessRequestTexts.on} <PathLinks paths={[resourcePath]} /> {accessRequestTexts.untilWhen}{" "}
      <Time at={expireTime} />{" "}
      <span className="quiet-text">
        <bdi>{reason}</bdi>
      </span>
    </>
  );
}

/** Who decided and what they said, and who ended it. */
function Outcome({ request: { decision, enderPath, endTime } }: { readonly request: AccessRequest }) {
  return (
    <span className="quiet-text">
      {decision === undefined ? null : (
        <>
          {decision.approved ? accessRequestTexts.approved : accessRequestTexts.declined}{" "}
          <PathLinks paths={[decision.deciderPath]} /> <bdi>{decision.message}</bdi>{" "}
        </>
      )}
      {enderPath === "" ? null : (
        <>
          {accessRequestTexts.endedBy} <PathLinks paths={[enderPath]} /> <Time at={endTime} />
        </>
      )}
    </span>
  );
}
