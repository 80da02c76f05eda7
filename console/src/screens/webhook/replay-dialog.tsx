import { createClient } from "@connectrpc/connect";
import { useMutation, useTransport } from "@connectrpc/connect-query";
import { useState } from "react";
import { ChangesService, Change_View } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { type Webhook, WebhooksService } from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { webhookTexts } from "../../texts/delivery-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";

/** What is to be sent again. */
export interface Replay {
  /** As it was when somebody asked for that. */
  readonly webhook: Webhook;
  /** Empty to choose. */
  readonly revision: string;
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
    const time = valueOf(form, "from_time");
    const found = time === "" ? valueOf(form, "from_revision") : await findRevision(parentOf(path), new Date(time));
    await again.mutateAsync({ path, etag, fromRevision: found });
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
      fields={from === "revision" ? ["from_revision"] : []}
      open={replay !== undefined}
      onClose={close}
      onSubmit={submit}
    >
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

/** Returns a function that finds the revision of the first change of an org at a time or later. It throws if there is none. */
function useFirstRevision(): (org: string, time: Date) => Promise<string> {
  const transport = useTransport();
  return async (org, time) => {
    const { changes } = await createClient(ChangesService, transport).listChanges({
      parentPath: org,
      pageSize: 1,
      orderBy: "time",
      view: Change_View.BASIC,
      filter: `time >= ${time.toISOString()}`,
    });
    const [first] = changes;
    if (first === undefined) throw new Error(webhookTexts.noneSince);
    return first.revision;
  };
}
