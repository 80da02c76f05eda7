import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { OrgFilesService } from "../../../../gen/iam/v1alpha/org_file_pb.ts";
import { momentProblem, readMoment, rollbackNames } from "../../calls/moment.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { rollbackTexts } from "../../texts/moment-texts.ts";
import { Button } from "../../ui/button.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { MomentForm } from "../../ui/moment-form.tsx";
import { Answered, ErrorNote } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { RollbackPlan } from "./rollback-plan.tsx";

const { rollbackOrg } = OrgFilesService.method;
const permission = "iam.orgs.rollback";

/** Leads an org back to what it was at a moment that the URL holds, after it has shown what that changes and for whom. */
export function RollbackScreen() {
  const { to = "" } = useSearch({ from: "/orgs/$org/rollback" });
  // What came of one moment is not said of another.
  return <RollbackTo key={to} />;
}

function RollbackTo() {
  const { org: name } = useParams({ from: "/orgs/$org/rollback" });
  const { to, leaveOut } = useSearch({ from: "/orgs/$org/rollback" });
  const navigate = useNavigate({ from: "/orgs/$org/rollback" });
  const path = `/orgs/${name}`;
  const permissions = usePermissions(path, [permission]);
  const may = permissions.may(permission);
  const request = { path, ...readMoment(to), leaveOutImpossible: leaveOut === true };
  const putBack = usePutBack();
  const isAsked = to !== undefined && may === true && putBack.data === undefined;
  const plan = useQuery(rollbackOrg, { ...request, validateOnly: true }, { enabled: isAsked, retry: false });
  // The form shows it again when it gets another object.
  const problem = useMemo(
    () => (to === undefined || plan.error === null ? undefined : momentProblem(plan.error, to, rollbackNames)),
    [plan.error, to],
  );
  const ask = (moment: string | undefined): void => {
    putBack.reset();
    void navigate({ search: { to: moment } });
  };
  return (
    <Page title={rollbackTexts.title} intro={rollbackTexts.intro}>
      {may === false ? (
        <GuardedButton permissions={permissions} permission={permission} onClick={() => undefined}>
          {rollbackTexts.title}
        </GuardedButton>
      ) : (
        <MomentForm
          label={rollbackTexts.when}
          names={rollbackNames}
          timeLabel={rollbackTexts.time}
          revisionLabel={rollbackTexts.revision}
          asked={to}
          problem={problem}
          submit={rollbackTexts.ask}
          onAsk={ask}
        />
      )}
      {putBack.data === undefined ? null : <Done org={name} changeCount={putBack.data.changeCount} />}
      {putBack.error === null ? null : <ErrorNote error={putBack.error} />}
      {!isAsked || problem !== undefined ? null : (
        <Answered of={plan}>
          {(found) => (
            <RollbackPlan plan={found} leavesOut={leaveOut === true}>
              <Button
                kind="danger"
                disabled={putBack.isPending || plan.isFetching}
                onClick={() => putBack.mutate({ ...request, plan: found.plan })}
              >
                {rollbackTexts.submit(found.changeCount)}
              </Button>
            </RollbackPlan>
          )}
        </Answered>
      )}
    </Page>
  );
}

/** Whatever comes of it, what screens show is read again: that the org has changed meanwhile, too. */
function usePutBack() {
  const queryClient = useQueryClient();
  return useMutation(rollbackOrg, { onSettled: () => queryClient.invalidateQueries() });
}

function Done({ org, changeCount }: { readonly org: string; readonly changeCount: number }) {
  return (
    <div className="note" role="status">
      <p>
        {rollbackTexts.done(changeCount)}{" "}
        <Link to="/orgs/$org/changes" params={{ org }}>
          {rollbackTexts.see}
        </Link>
      </p>
    </div>
  );
}
