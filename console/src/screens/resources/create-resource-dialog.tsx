import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CreateDialog } from "../../ui/create-dialog.tsx";
import { type Named, readNamed } from "../../ui/named-fields.tsx";
import { SelectField } from "../../ui/text-field.tsx";
import { ParameterInput } from "./parameter-fields.tsx";
import { namesIn, shapeOf } from "./parameter-shape.ts";
import { QuotaLeft } from "./quota-left.tsx";
import { readParameters } from "./read-parameters.ts";
import { readVariables, variableFields, VariableFields } from "./variable-fields.tsx";

interface CreateResourceDialogProps {
  /** Such as `/orgs/acme/projects/web`. */
  readonly project: string;
  /** Those of which the person may create resources. */
  readonly types: readonly ResourceType[];
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates a resource after it has shown what is left in the quotas, and leads to the operation that does it. */
export function CreateResourceDialog({ project, types, open, onClose }: CreateResourceDialogProps) {
  const navigate = useNavigate();
  const create = useMutation(ResourcesService.method.createResource);
  const [chosen, setChosen] = useState<string>();
  const type = types.find(({ path }) => path === chosen) ?? types[0];
  const operation = type?.operations.find(({ verb }) => verb === "create");
  if (type === undefined || operation === undefined) return null;
  const shape = shapeOf(type.parametersSchema, resourceTexts.parameters);
  const send = (named: Named, form: FormData, validateOnly: boolean) => {
    const parameters = readParameters(form, shape);
    const resource = {
      ...named,
      ...readVariables(form, operation),
      typePath: type.path,
      ...(parameters && { parameters }),
    };
    return create.mutateAsync({ parentPath: project, resource, validateOnly });
  };
  return (
    <CreateDialog
      title={resourceTexts.create}
      intro={resourceTexts.createIntro}
      said={resourceTexts.creationBegun}
      fields={["type_path", ...variableFields(operation), ...(shape === undefined ? [] : namesIn(shape))]}
      open={open}
      onClose={onClose}
      look={{
        words: resourceTexts.show,
        ask: async (form) => <QuotaLeft balances={(await send(readNamed(form), form, true)).quotaBalances} />,
      }}
      onCreate={async (named, form) => {
        const { path } = await send(named, form, false);
        await navigate({ to: path });
      }}
    >
      <SelectField
        name="type_path"
        label={texts.columns.type}
        hint={type.description || undefined}
        choices={types.map(({ path, displayName }) => ({ value: path, label: displayName || nameOf(path) }))}
        value={type.path}
        onValueChange={setChosen}
      />
      <VariableFields key={`variables of ${type.path}`} operation={operation} project={project} />
      {shape === undefined ? null : <ParameterInput key={`parameters of ${type.path}`} field={shape} />}
    </CreateDialog>
  );
}
