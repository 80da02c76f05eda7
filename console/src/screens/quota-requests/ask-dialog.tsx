import { useMutation } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { QuotaRequestsService } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { quotaOf } from "../../calls/paths.ts";
import { useKindChoices, useResourceChoices } from "../../calls/use-choices.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { quotaRequestTexts, quotaTexts } from "../../texts/quota-texts.ts";
import { texts } from "../../texts/texts.ts";
import { AmountField } from "../../ui/amount-field.tsx";
import { amountIn } from "../../ui/amount-in.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { type Pick, Picker } from "../../ui/picker.tsx";
import { TextAreaField, TextField, valueOf } from "../../ui/text-field.tsx";
import { limitField } from "../quota/limit-field.ts";

interface AskDialogProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** What more is asked for from the beginning: of which kind, and of what, which is the org or a project of it. */
  readonly preset?: { readonly of: Pick; readonly kind: string } | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** How many characters of a kind are in the name of a request, which has at most 64. */
const longestKind = 40;

/** Asks for a higher limit. */
export function AskDialog({ org, preset, open, onClose }: AskDialogProps) {
  const create = useMutation(QuotaRequestsService.method.createQuotaRequest);
  const [picked, setPicked] = useState<string>();
  const kind = picked ?? preset?.kind ?? "";
  const field = limitField(kind);
  const close = (): void => {
    setPicked(undefined);
    onClose();
  };
  const submit = (form: FormData): Promise<unknown> => {
    const of = valueOf(form, "quota_path");
    const limit = amountIn(form, field);
    const quotaRequest = {
      name: valueOf(form, "name") || usualName(kind),
      description: valueOf(form, "description"),
      quotaPath: of === "" ? "" : quotaOf(of),
      limits: kind === "" || limit === undefined ? {} : { [kind]: limit },
    };
    return create.mutateAsync({ parentPath: org, quotaRequest });
  };
  return (
    <FormDialog
      title={quotaRequestTexts.create}
      intro={quotaRequestTexts.createIntro}
      submit={quotaRequestTexts.create}
      done={texts.done.asked}
      fields={["quota_path", "limits", field, "description", "name"]}
      open={open}
      onClose={close}
      onSubmit={submit}
    >
      <AskFields org={org} of={preset?.of} kind={kind} onKind={setPicked} />
    </FormDialog>
  );
}

/** Two requests of the same second would have the same name, which the service refuses. */
const usualName = (kind: string): string =>
  `more-${kind.replaceAll("_", "-").slice(0, longestKind)}-${new Date().toISOString().replaceAll(/\D/g, "").slice(0, 14)}`;

interface AskFieldsProps {
  readonly org: string;
  readonly of: Pick | undefined;
  readonly kind: string;
  readonly onKind: (kind: string | undefined) => void;
}

function AskFields({ org, of, kind, onKind }: AskFieldsProps) {
  const [resource, setResource] = useState(of);
  const namesOf = useQuantityKinds();
  const named = namesOf(kind);
  const useResources = useCallback((words: string, open: boolean) => useResourceChoices(org, words, open), [org]);
  return (
    <>
      <Picker
        name="quota_path"
        label={quotaRequestTexts.quota}
        hint={quotaRequestTexts.quotaHint}
        value={resource}
        useChoices={useResources}
        onPick={setResource}
      />
      <Picker
        name="limits"
        label={quotaTexts.kind}
        hint={quotaRequestTexts.kindHint}
        value={kind === "" ? undefined : { value: kind, label: named.name }}
        useChoices={useKindChoices}
        onPick={(pick) => onKind(pick?.value)}
      />
      <AmountField key={kind} name={limitField(kind)} kind={{ ...named, name: quotaRequestTexts.limits }} />
      <TextAreaField name="description" label={quotaRequestTexts.why} hint={quotaRequestTexts.whyHint} />
      <TextField name="name" label={texts.fields.name} hint={quotaRequestTexts.nameHint} />
    </>
  );
}
