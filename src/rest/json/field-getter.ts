import type { DescField } from "@bufbuild/protobuf";
import { isScalarZeroValue } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";

/** The fields of a message, by local name. */
export type Fields = Readonly<Record<string, unknown>>;

/** Marks a field that is not written. */
export const absent = Symbol("absent");

/**
 * Compiles a function that returns the value of a field, or `absent` if the field is not to be written.
 *
 * @param isDefaultWanted whether fields with implicit presence are written when they hold their default value.
 */
export function compileFieldGetter(field: DescField, isDefaultWanted: boolean): (message: Fields) => unknown {
  const name = field.localName;
  if (field.oneof !== undefined) {
    const oneofName = field.oneof.localName;
    return (message) => {
      const oneof = message[oneofName] as { readonly case: string | undefined; readonly value?: unknown };
      return oneof.case === name ? oneof.value : absent;
    };
  }
  if (field.presence !== FeatureSet_FieldPresence.IMPLICIT) {
    const isRequired = field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED;
    return (message) => {
      const value = message[name];
      // Outside of proto3, a message inherits the defaults of its fields.
      if (value !== undefined && Object.hasOwn(message, name)) return value;
      if (isRequired) throw new Error(`cannot encode ${field.toString()} to JSON: required field not set`);
      return absent;
    };
  }
  if (isDefaultWanted) return (message) => message[name];
  const isDefault = compileDefaultTest(field);
  return (message) => {
    const value = message[name];
    return isDefault(value) ? absent : value;
  };
}

function compileDefaultTest(field: DescField): (value: unknown) => boolean {
  switch (field.fieldKind) {
    case "list":
      return (value) => (value as readonly unknown[]).length === 0;
    case "map":
      return (value) => Object.keys(value as object).length === 0;
    case "enum": {
      const first = field.enum.values[0]?.number;
      return (value) => value === first;
    }
    case "message":
      return () => false;
    case "scalar": {
      const { scalar } = field;
      return (value) => isScalarZeroValue(scalar, value);
    }
  }
}
