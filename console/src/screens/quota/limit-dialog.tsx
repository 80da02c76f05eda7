import { useMutation } from "@connectrpc/connect-query";
import { type Quota, QuotasService } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { parentOfQuota } from "../../calls/paths.ts";
import type { Kind } from "../../calls/use-kinds.ts";
import { quotaTexts } from "../../texts/quota-texts.ts";
import { texts } from "../../texts/texts.ts";
import { amountOf, writeAmount } from "../../ui/amount.ts";
import { AmountField } from "../../ui/amount-field.tsx";
import { amountIn } from "../../ui/amount-in.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { limitField } from "./limit-field.ts";
import { Said } from "../../ui/said.tsx";

/** What is to be changed, as it was when somebody asked for that. */
export interface AskedLimit {
  readonly quota: Quota;
  readonly kind: string;
  readonly named: Kind;
}

interface LimitDialogProps {
  readonly asked: AskedLimit | undefined;
  /** What the person may not do with the limit; undefined if it may do all. */
  readonly restriction: string | undefined;
  readonly onClose: () => void;
}

/** Sets, changes or removes the limit of one kind. */
export function LimitDialog({ asked, restriction, onClose }: LimitDialogProps) {
  const update = useMutation(QuotasService.method.updateQuota);
  const { quota, kind = "", named = { name: "", unit: "" } } = asked ?? {};
  const { usage = {}, reserved = {}, limits: present = {} } = quota ?? {};
  const taken = (amountOf(usage, kind) ?? 0) + (amountOf(reserved, kind) ?? 0);
  const field = limitField(kind);
  const submit = async (form: FormData): Promise<void> => {
    if (quota === undefined) return;
    const { [kind]: _, ...others } = quota.limits;
    const limit = amountIn(form, field);
    // All limits are sent, with the etag they were read with: the JSON of a field mask cannot name each kind.
    const limits = limit === undefined ? others : { ...others, [kind]: limit };
    const parentPath = parentOfQuota(quota.path);
    await update.mutateAsync({ parentPath, quota: { limits, etag: quota.etag }, updateMask: { paths: ["limits"] } });
  };
  return (
    <FormDialog
      title={
        <>
          {quotaTexts.limitOf} <bdi>{named.name}</bdi>
        </>
      }
      intro={
        <>
          <p>{quotaTexts.used(writeAmount(taken, named.unit))}</p>
          {restriction === undefined ? null : <p className="quiet-text">{restriction}</p>}
        </>
      }
      submit={texts.save}
      done={<Said what={quotaTexts.limitSaved} name={named.name} />}
      fields={[field]}
      open={asked !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      <AmountField
        name={field}
        kind={{ ...named, name: quotaTexts.limit }}
        hint={quotaTexts.limitHint}
        value={amountOf(present, kind)}
      />
    </FormDialog>
  );
}
