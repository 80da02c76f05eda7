import { useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import {
  type OperationType,
  type QualityVariable,
  type QuantityVariable,
  type ResourceType,
  ResourceTypesService,
} from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { ServicesService } from "../../../../gen/resources/v1alpha/service_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { permissionFor, useQualityKinds, useTypeNames } from "../../calls/use-catalog.ts";
import { type Kind, useQuantityKinds } from "../../calls/use-kinds.ts";
import { catalogTexts } from "../../texts/catalog-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { ScreenOf } from "../../ui/screen-of.tsx";
import { limitsOf } from "../resources/limits-of.ts";

/** One type of resources: its operations with what they take and what they require, and the parameters. */
export function ResourceTypeScreen() {
  const { service, type: name } = useParams({ from: "/services/$service/resourceTypes/$type" });
  const type = useQuery(ResourceTypesService.method.getResourceType, {
    path: `/services/${service}/resourceTypes/${name}`,
  });
  return <ScreenOf of={type}>{(data) => <Shown type={data} />}</ScreenOf>;
}

function Shown({ type }: { readonly type: ResourceType }) {
  const { path, name, displayName, description, operations, routingParameter, parametersSchema } = type;
  const service = useQuery(ServicesService.method.getService, { path: parentOf(path) }).data;
  const columns: readonly Column<OperationType>[] = [
    { title: texts.columns.what, cell: ({ verb }) => verb },
    { title: catalogTexts.takes, cell: (operation) => <Takes operation={operation} /> },
    { title: catalogTexts.permission, wide: true, cell: ({ verb }) => <code>{permissionFor(type, verb)}</code> },
    { title: texts.columns.description, wide: true, cell: (operation) => <bdi>{operation.description}</bdi> },
  ];
  const schema = parametersSchema && JSON.stringify(parametersSchema, undefined, 2);
  return (
    <Page
      kind={catalogTexts.type}
      title={displayName || name}
      intro={description === "" ? undefined : <bdi>{description}</bdi>}
    >
      <Facts>
        <Fact title={catalogTexts.service}>
          <PathLink path={parentOf(path)} name={service?.displayName || service?.name || parentOf(path)} />
        </Fact>
        <Fact title={texts.columns.path}>
          <code translate="no">{path}</code>
        </Fact>
        {routingParameter === "" ? null : (
          <Fact title={catalogTexts.routing}>
            <code translate="no">{routingParameter}</code>
          </Fact>
        )}
      </Facts>
      <Section title={catalogTexts.operations}>
        <DataTable label={catalogTexts.operations} columns={columns} rows={operations} keyOf={({ verb }) => verb} />
      </Section>
      {schema === undefined ? null : (
        <Section title={catalogTexts.parameters} actions={<CopyButton text={schema} label={catalogTexts.copy} />}>
          <p className="quiet-text">{catalogTexts.schema}</p>
          <pre className="code" translate="no">
            {schema}
          </pre>
        </Section>
      )}
    </Page>
  );
}

/** What an operation takes: Quantities and Qualities with their limits, and references to other resources. */
function Takes({ operation }: { readonly operation: OperationType }) {
  const [quantityKindOf, qualityKindOf] = [useQuantityKinds(), useQualityKinds()];
  const typeNameOf = useTypeNames();
  return (
    <ul>
      {operation.quantities.map((variable) => (
        <Variable key={variable.kind} variable={variable} kind={quantityKindOf(variable.kind)} />
      ))}
      {operation.qualities.map((variable) => (
        <Variable key={variable.kind} variable={variable} kind={qualityKindOf(variable.kind)} />
      ))}
      {operation.references.map(({ name, typePath, required }) => (
        <li key={name}>
          {catalogTexts.uses(name)}: <PathLink path={typePath} name={typeNameOf(typePath)} />{" "}
          {required ? catalogTexts.required : ""}
        </li>
      ))}
    </ul>
  );
}

interface VariableProps {
  readonly variable: QuantityVariable | QualityVariable;
  readonly kind: Kind;
}

function Variable({ variable, kind: { name, unit } }: VariableProps) {
  const limits = [...(unit === "" ? [] : [catalogTexts.unit(unit)]), ...limitsOf(variable, unit)];
  return (
    <li>
      <bdi>{name}</bdi> {variable.required ? catalogTexts.required : ""}{" "}
      <span className="quiet-text">{limits.join(", ")}</span>
    </li>
  );
}
