import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { asOfNames } from "../../calls/moment.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { asOfTexts } from "../../texts/moment-texts.ts";
import { Button } from "../../ui/button.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { MomentForm } from "../../ui/moment-form.tsx";

interface AsOfFormProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** What the service says about the moment. */
  readonly problem: Readonly<Record<string, string>> | undefined;
}

/** As of when a question is asked, which the URL holds: now, or a time or a revision, for people who may read the log. */
export function AsOfForm({ org, problem }: AsOfFormProps) {
  const { asOf } = useSearch({ from: "/orgs/$org/access" });
  const [wanted, setWanted] = useState(false);
  const permissions = usePermissions(org, ["iam.changes.list"]);
  const navigate = useNavigate({ from: "/orgs/$org/access" });
  const ask = (moment: string | undefined): void =>
    void navigate({ search: (before) => ({ ...before, asOf: moment, page: undefined }) });
  if (asOf === undefined && !wanted) {
    return (
      <GuardedButton
        kind="quiet"
        permissions={permissions}
        permission="iam.changes.list"
        onClick={() => setWanted(true)}
      >
        {asOfTexts.other}
      </GuardedButton>
    );
  }
  const back = (): void => {
    setWanted(false);
    ask(undefined);
  };
  return (
    <MomentForm
      label={asOfTexts.title}
      names={asOfNames}
      timeLabel={asOfTexts.time}
      revisionLabel={asOfTexts.revision}
      asked={asOf}
      problem={problem}
      submit={asOfTexts.ask}
      onAsk={ask}
    >
      <Button kind="quiet" onClick={back}>
        {asOfTexts.now}
      </Button>
    </MomentForm>
  );
}
