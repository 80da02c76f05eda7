import { createClient } from "@connectrpc/connect";
import { useMutation, useTransport } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { ChangesService, Change_View } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { orgOf, parentOf } from "../../calls/paths.ts";
import { useOrgChoices } from "../../calls/use-choices.ts";
import { useOrgNames } from "../../calls/use-org-names.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { type Pick, Picker } from "../../ui/picker.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";

/** What is to be sent again. */
export interface Replay {
  /** As it was when somebody asked for that. */
  readonly webhook: Webhook;
  /** Empty to choose. */
  readonly revision: string;
  /** For a webhook of a customer, the org whose log is sent again; undefined to choose, empty for the customer itself. */
  readonly orgPath?: string;
}

interface ReplayDialogProps {
  readonly replay: Replay | undefined;
  readonly onClose: () => void;
}

/** From what on something is sent again. */
type Beginning = "time" | "revision";

const beginnings: readonly Beginning[] = ["time", "revision"];

/** Sends what a webhook has sent once more, from a time or from a revision on. */
export function ReplayDialog({ replay, onClose }: ReplayDialogProps) {
  const again = useMutation(WebhooksService.method.replayWebhook);
  const findRevision = useFirstRevision();
  const [chosen, setChosen] = useState<Beginning>();
  const { revision = "" } = replay ?? {};
  const from = chosen ?? (revision === "" ? "time" : "revision");
  const submit = async (form: FormData): Promise<void> => {
    const { path = "", etag = "" } = replay?.webhook ?? {};
    const orgPath = valueOf(form, "org_path");
    const time = valueOf(form, "from_time");
    const found =
      time === "" ? valueOf(form, "from_revision") : await findRevision(orgPath || parentOf(path), new Date(time));
    await again.mutateAsync({ path, etag, fromRevision: found, orgPath });
  };
  const close = (): void => {
    setChosen(undefined);
    onClose();
  };
  return (
    <FormDialog
      title={webhookTexts.replay}
      intro={webhookTexts.replayIntro}
      submit={webhookTexts.replay}
      done={webhookTexts.replayed}
      fields={from === "revision" ? ["org_path", "from_revision"] : ["org_path"]}
      open={replay !== undefined}
      onClose={close}
      onSubmit={submit}
    >
      {replay === undefined || orgOf(replay.webhook.path) !== "" ? null : <LogField replay={replay} />}
      <fieldset className="choices">
        <legend className="label">{webhookTexts.replayFrom}</legend>
        {beginnings.map((beginning) => (
          <label key={beginning}>
            <input type="radio" name="from" checked={from === beginning} onChange={() => setChosen(beginning)} />
            {webhookTexts.beginnings[beginning]}
          </label>
        ))}
      </fieldset>
      {from === "time" ? (
        <TextField name="from_time" label={webhookTexts.replayTime} type="datetime-local" />
      ) : (
        <TextField
          name="from_revision"
          label={webhookTexts.replayRevision}
          hint={webhookTexts.replayRevisionHint}
          defaultValue={revision}
          spellCheck={false}
        />
      )}
    </FormDialog>
  );
}

/** Asks of which log of a customer something is sent again. */
function LogField({ replay: { webhook, orgPath = "" } }: { readonly replay: Replay }) {
  const customer = parentOf(webhook.path);
  const nameOfOrg = useOrgNames(customer, orgPath === "" ? [] : [orgPath]);
  const first = orgPath === "" ? undefined : { value: orgPath, label: nameOfOrg(orgPath) };
  // Undefined until somebody has chosen.
  const [chosen, setChosen] = useState<{ readonly pick: Pick | undefined }>();
  const useOrgs = useCallback((words: string, open: boolean) => useOrgChoices(customer, words, open), [customer]);
  return (
    <Picker
      key={first?.label}
      name="org_path"
      label={webhookTexts.replayOf}
      hint={webhookTexts.replayOfHint}
      value={chosen === undefined ? first : chosen.pick}
      useChoices={useOrgs}
      onPick={(pick) => setChosen({ pick })}
    />
  );
}

/**
 * Returns a function that finds the revision of the first change in the log of an org, or of a customer itself, at a time or later. It throws
 * if there is none.
 */
function useFirstRevision(): (of: string, time: Date) => Promise<string> {
  const transport = useTransport();
  return async (of, time) => {
    const isOfOrg = orgOf(of) !== "";
    const request = {
      parentPath: of,
      pageSize: isOfOrg ? 1 : 1_000,
      orderBy: "time",
      view: Change_View.BASIC,
      filter: `time >= ${time.toISOString()}`,
    };
    const { listChanges } = createClient(ChangesService, transport);
    let pageToken = "";
    do {
      const page = await listChanges({ ...request, pageToken });
      // The list of a customer has the changes of its orgs as well.
      const first = page.changes.find(({ orgPath }) => isOfOrg || orgPath === "");
      if (first !== undefined) return first.revision;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    throw new Error(webhookTexts.noneSince);
  };
}
