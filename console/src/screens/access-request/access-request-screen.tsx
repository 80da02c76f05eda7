import { useQuery } from "@connectrpc/connect-query";
import { Link, useParams } from "@tanstack/react-router";
import {
  type AccessRequest,
  AccessRequest_State,
  AccessRequest_StateSchema,
  AccessRequestsService,
} from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { AnswerButtons, useAnswers } from "../access-requests/answers.tsx";
import { Progress } from "../access-requests/progress.tsx";
import { RequestHistory } from "./request-history.tsx";

/** One request for access: who asks for what and why, what was decided, and what has happened to it. */
export function AccessRequestScreen() {
  const { org, request: name } = useParams({ from: "/orgs/$org/accessRequests/$request" });
  const path = `/orgs/${org}/accessRequests/${name}`;
  const request = useQuery(AccessRequestsService.method.getAccessRequest, { path });
  return <ScreenOf of={request}>{(data) => <Shown key={data.id} request={data} />}</ScreenOf>;
}

interface ShownProps {
  readonly request: AccessRequest;
}

function Shown({ request }: ShownProps) {
  const { path, rolePath, resourcePath, reason } = request;
  const nameIn = useDisplayNames([rolePath, resourcePath]);
  const { answer, dialogs } = useAnswers();
  return (
    <Page
      kind={accessRequestTexts.one}
      title={accessRequestTexts.titleOf(nameIn(rolePath), nameIn(resourcePath))}
      intro={<bdi>{reason}</bdi>}
      actions={
        <>
          <Link to="/orgs/$org/accessRequests" params={{ org: nameOf(orgOf(path)) }} className="button plain">
            {texts.requests.all}
          </Link>
          <AnswerButtons request={request} answer={answer} />
        </>
      }
    >
      <RequestFacts request={request} />
      <RequestHistory path={path} />
      {dialogs}
    </Page>
  );
}

function RequestFacts({ request }: ShownProps) {
  const { path, state, memberPath, memberId, createTime, rolePath, resourcePath, expireTime, lapseTime } = request;
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={AccessRequest_StateSchema} value={state} />
        <Progress request={request} />
        {state === AccessRequest_State.PENDING ? (
          <span className="quiet-text">
            {" "}
            {accessRequestTexts.decideUntil} <Time at={lapseTime} />
          </span>
        ) : null}
      </Fact>
      <Fact title={accessRequestTexts.askedBy}>
        <PathLinks paths={[memberPath]} />, <Time at={createTime} />
        {/* The org does not see what becomes of this name. */}
        {orgOf(memberPath) === orgOf(path) ? null : (
          <>
            , <code translate="no">@{memberId}</code>
          </>
        )}
      </Fact>
      <Fact title={accessRequestTexts.role}>
        <PathLinks paths={[rolePath]} />
      </Fact>
      <Fact title={accessRequestTexts.resource}>
        <PathLinks paths={[resourcePath]} />
      </Fact>
      <Fact title={texts.columns.until}>
        <Time at={expireTime} />
      </Fact>
      <FirstApproval request={request} />
      <Answer request={request} />
      <Fact title={texts.columns.path}>
        <code translate="no">{path}</code> <CopyButton text={path} />
      </Fact>
    </Facts>
  );
}

/** Who approved first where the org wants two approvals, and what they said. */
function FirstApproval({ request: { firstApproval } }: ShownProps) {
  if (firstApproval === undefined) return null;
  const { deciderPath, decideTime, message } = firstApproval;
  return (
    <Fact title={accessRequestTexts.firstApprovedBy}>
      {deciderPath === "" ? texts.none : <PathLinks paths={[deciderPath]} />}, <Time at={decideTime} />{" "}
      <bdi>{message}</bdi>
    </Fact>
  );
}

/** Who decided and what they said, what was granted, and who ended it. */
function Answer({ request: { decision, roleBindingPath, enderPath, endTime } }: ShownProps) {
  return (
    <>
      {decision === undefined ? null : (
        <Fact title={decision.approved ? accessRequestTexts.approvedBy : accessRequestTexts.declinedBy}>
          {decision.deciderPath === "" ? texts.none : <PathLinks paths={[decision.deciderPath]} />},{" "}
          <Time at={decision.decideTime} />
        </Fact>
      )}
      {decision === undefined || decision.message === "" ? null : (
        <Fact title={accessRequestTexts.said}>
          <bdi>{decision.message}</bdi>
        </Fact>
      )}
      {roleBindingPath === "" ? null : (
        <Fact title={texts.why.binding}>
          <code translate="no">{roleBindingPath}</code> <CopyButton text={roleBindingPath} />
        </Fact>
      )}
      {endTime === undefined ? null : (
        <Fact title={accessRequestTexts.over}>
          {enderPath === "" ? null : (
            <>
              <PathLinks paths={[enderPath]} />,{" "}
            </>
          )}
          <Time at={endTime} />
        </Fact>
      )}
    </>
  );
}
