import { Form } from "@base-ui/react/form";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState, type SubmitEvent } from "react";
import { usePermissions } from "../../calls/use-permissions.ts";
import { asOfTexts } from "../../texts/as-of-texts.ts";
import { Button } from "../../ui/button.tsx";
import { toLocalInput } from "../../ui/endings.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { type AsOfField, timeIn } from "./as-of.ts";

interface AsOfFormProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** What the service says about the moment. */
  readonly problem: Partial<Record<AsOfField, string>> | undefined;
}

const noProblem = {};

interface Typed {
  readonly time: string;
  readonly revision: string;
  /** The moment that was asked about when it was typed. */
  readonly after: string | undefined;
}

/** As of when a question is asked, which the URL holds: now, or a time or a revision, for people who may read the log. */
export function AsOfForm({ org, problem }: AsOfFormProps) {
  const { asOf } = useSearch({ from: "/orgs/$org/access" });
  const [wanted, setWanted] = useState(false);
  const [typed, setTyped] = useState<Typed>();
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
  const time = asOf === undefined ? undefined : timeIn(asOf);
  const asked = {
    time: time === undefined ? "" : toLocalInput(time),
    revision: time === undefined ? (asOf ?? "") : "",
  };
  const shown = typed?.after === asOf && typed !== undefined ? typed : { ...asked, after: asOf };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const revision = shown.revision.trim();
    // Whoever gets the link may be in another zone.
    const at = shown.time === "" ? undefined : new Date(shown.time).toISOString();
    ask(revision === "" ? at : revision);
  };
  const back = (): void => {
    setWanted(false);
    setTyped(undefined);
    ask(undefined);
  };
  return (
    <Form className="as-of" aria-label={asOfTexts.title} errors={problem ?? noProblem} onSubmit={submit}>
      <TextField
        name="as_of_time"
        label={asOfTexts.time}
        type="datetime-local"
        step="any"
        value={shown.time}
        onValueChange={(text) => setTyped({ ...shown, time: text })}
      />
      <TextField
        name="as_of_revision"
        label={asOfTexts.revision}
        hint={asOfTexts.revisionHint}
        value={shown.revision}
        onValueChange={(text) => setTyped({ ...shown, revision: text })}
      />
      <div className="as-of-end">
        <Button type="submit">{asOfTexts.ask}</Button>
        <Button kind="quiet" onClick={back}>
          {asOfTexts.now}
        </Button>
      </div>
    </Form>
  );
}
