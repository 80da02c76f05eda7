import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { type ParameterField, shapeOf } from "../resources/parameter-shape.ts";

interface ParameterFactsProps {
  readonly schema: JsonObject | undefined;
  readonly value: JsonObject | undefined;
}

/** The parameters of a resource, point by point where the schema of its type is simple, and otherwise as JSON. */
export function ParameterFacts({ schema, value }: ParameterFactsProps) {
  if (value === undefined || Object.keys(value).length === 0) return null;
  const shape = shapeOf(schema, resourceTexts.parameters);
  return (
    <Fact title={resourceTexts.parameters}>
      <Value field={shape} value={value} />
    </Fact>
  );
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function Value({ field, value }: { readonly field: ParameterField | undefined; readonly value: JsonValue }) {
  if (field?.kind.type === "group" && isObject(value)) return <Group fields={field.kind.fields} value={value} />;
  if (typeof value === "boolean") return resourceTexts.truth[`${value}`];
  if (typeof value === "object") return <Json value={value} />;
  return <bdi>{String(value)}</bdi>;
}

/** The fields in the order of the form, then what the schema no longer has. */
function Group({ fields, value }: { readonly fields: readonly ParameterField[]; readonly value: JsonObject }) {
  const left = Object.keys(value).filter((key) => fields.every((field) => field.key !== key));
  return (
    <Facts>
      {fields.map((field) => {
        const own = Object.hasOwn(value, field.key) ? value[field.key] : undefined;
        return own === undefined ? null : (
          <Fact key={field.key} title={field.label}>
            <Value field={field} value={own} />
          </Fact>
        );
      })}
      {left.map((key) => (
        <Fact key={key} title={key}>
          <Value field={undefined} value={value[key] ?? null} />
        </Fact>
      ))}
    </Facts>
  );
}

/** What a type defines by itself, as it is in the API. */
export function Json({ value }: { readonly value: JsonValue }) {
  return (
    <pre className="code" translate="no">
      {JSON.stringify(value, undefined, 2)}
    </pre>
  );
}
