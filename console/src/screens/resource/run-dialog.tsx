import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { type Resource, ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { OperationType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { sentence } from "../../texts/sentence.ts";
import { typeInWords } from "../../texts/type-in-words.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { QuotaLeft } from "../resources/quota-left.tsx";
import { readVariables, variableFields, VariableFields } from "../resources/variable-fields.tsx";

interface RunDialogProps {
  /** As it was when somebody asked for the operation; undefined while nobody does. */
  readonly resource: Resource | undefined;
  readonly operation: OperationType;
  /** Whether the person may read resources of every type. */
  readonly mayReadUsed: boolean;
  readonly onClose: () => void;
}

/**
 * Begins an operation that the type defines, such as `resize`, with what it takes, and leads to it. If it takes Quantities, it says first what
 * would be left in the quotas.
 */
export function RunDialog({ resource, operation, mayReadUsed, onClose }: RunDialogProps) {
  const navigate = useNavigate();
  const run = useMutation(ResourcesService.method.runResource);
  const { path = "", name = "", displayName = "", etag = "" } = resource ?? {};
  const { verb, description, quantities, concurrent } = operation;
  // Those that run beside it change the resource when they begin and end.
  const expected = concurrent ? "" : etag;
  const words = verb === "purge" ? resourceTexts.purge : sentence(typeInWords(verb));
  const send = (form: FormData, validateOnly: boolean) =>
    run.mutateAsync({
      path,
      etag: expected,
      operation: verb,
      ...readVariables(form, operation, resource),
      validateOnly,
    });
  const look = {
    words: resourceTexts.show,
    ask: async (form: FormData) => <QuotaLeft balances={(await send(form, true)).quotaBalances} />,
  };
  const intro = verb === "purge" ? resourceTexts.purgeIntro : description;
  return (
    <FormDialog
      title={
        <>
          {words} <bdi>{displayName || name}</bdi>
        </>
      }
      intro={intro === "" ? undefined : <bdi>{intro}</bdi>}
      submit={words}
      kind={verb === "purge" ? "danger" : "primary"}
      fields={variableFields(operation)}
      open={resource !== undefined}
      onClose={onClose}
      look={quantities.length === 0 ? undefined : look}
      onSubmit={async (form) => {
        const { path: started } = await send(form, false);
        await navigate({ to: started });
      }}
    >
      {resource === undefined ? null : (
        <VariableFields
          operation={operation}
          project={parentOf(resource.path)}
          present={resource}
          mayReadUsed={mayReadUsed}
        />
      )}
    </FormDialog>
  );
}
