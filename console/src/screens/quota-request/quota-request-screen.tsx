import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import {
  type QuotaRequest,
  QuotaRequest_State,
  QuotaRequest_StateSchema,
  QuotaRequestsService,
} from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { quotaRequestTexts } from "../../texts/quota-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Page } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { useAsked } from "../../ui/use-asked.ts";
import { DecideButtons, useDecisions } from "../quota-requests/decide-buttons.tsx";
import { QuotaHolder } from "../quota-requests/quota-holder.tsx";
import { useDeciding } from "../quota-requests/use-deciding.ts";
import { AskedLimits } from "./asked-limits.tsx";

/** One request for quota: what is asked for beside what is used and allowed, by whom and why, and what was decided. */
export function QuotaRequestScreen() {
  const { org, request: name } = useParams({ from: "/orgs/$org/quotaRequests/$request" });
  const path = `/orgs/${org}/quotaRequests/${name}`;
  const request = useQuery(QuotaRequestsService.method.getQuotaRequest, { path });
  return <ScreenOf of={request}>{(data) => <Shown key={data.id} request={data} org={`/orgs/${org}`} />}</ScreenOf>;
}

interface ShownProps {
  readonly request: QuotaRequest;
  readonly org: string;
}

function Shown({ request, org }: ShownProps) {
  const { name, displayName, description, state } = request;
  const deciding = useDeciding(org);
  const { decide, dialogs } = useDecisions();
  const { ask, askedFor, close } = useAsked<"withdraw", QuotaRequest>(request);
  const isPending = state === QuotaRequest_State.PENDING;
  return (
    <Page
      kind={quotaRequestTexts.one}
      title={displayName || name}
      intro={description === "" ? undefined : <bdi>{description}</bdi>}
      actions={
        <>
          <Link to="/orgs/$org/quotaRequests" params={{ org: nameOf(org) }} className="button plain">
            {texts.requests.all}
          </Link>
          {isPending ? (
            <>
              <DecideButtons request={request} deciding={deciding} decide={decide} />
              <GuardedButton
                kind="danger"
                permissions={deciding.onOrg}
                permission="iam.quotaRequests.delete"
                onClick={() => ask("withdraw")}
              >
                {quotaRequestTexts.withdraw}
              </GuardedButton>
            </>
          ) : null}
        </>
      }
    >
      <RequestFacts request={request} />
      <AskedLimits request={request} />
      {dialogs}
      <WithdrawDialog request={askedFor("withdraw")} list={`${org}/quotaRequests`} onClose={close} />
    </Page>
  );
}

function RequestFacts({ request }: Pick<ShownProps, "request">) {
  const { path, state, quotaPath, memberPath, createTime, deciderPath, decideTime, decisionMessage } = request;
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={QuotaRequest_StateSchema} value={state} />
      </Fact>
      <Fact title={quotaRequestTexts.quota}>
        <QuotaHolder quotaPath={quotaPath} />
      </Fact>
      <Fact title={quotaRequestTexts.askedBy}>
        {memberPath === "" ? texts.none : <PathLinks paths={[memberPath]} />}, <Time at={createTime} />
      </Fact>
      {decideTime === undefined ? null : (
        <Fact title={quotaRequestTexts.decidedBy}>
          {deciderPath === "" ? texts.none : <PathLinks paths={[deciderPath]} />}, <Time at={decideTime} />
        </Fact>
      )}
      {decisionMessage === "" ? null : (
        <Fact title={quotaRequestTexts.decided}>
          <bdi>{decisionMessage}</bdi>
        </Fact>
      )}
      <Fact title={texts.columns.path}>
        <code translate="no">{path}</code> <CopyButton text={path} />
      </Fact>
    </Facts>
  );
}

interface WithdrawDialogProps {
  /** As it was when somebody asked to withdraw it; undefined while nobody does. */
  readonly request: QuotaRequest | undefined;
  /** Where the other requests are. */
  readonly list: string;
  readonly onClose: () => void;
}

function WithdrawDialog({ request, list, onClose }: WithdrawDialogProps) {
  const navigate = useNavigate();
  const remove = useMutation(QuotaRequestsService.method.deleteQuotaRequest);
  return (
    <RemovalDialog
      words={quotaRequestTexts.withdraw}
      said={texts.done.withdrawn}
      intro={quotaRequestTexts.withdrawIntro}
      removed={request}
      onClose={onClose}
      onRemove={async (path) => {
        await remove.mutateAsync({ path, etag: request?.etag ?? "" });
        await navigate({ to: list });
      }}
    />
  );
}
