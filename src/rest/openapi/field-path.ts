import type { DescField, DescMessage } from "@bufbuild/protobuf";

/**
 * Returns the fields on a path of proto names; the last one is the field that the path names.
 *
 * @throws Error if a field does not exist.
 */
export function resolveFields(desc: DescMessage, names: readonly string[]): DescField[] {
  let holder: DescMessage | undefined = desc;
  return names.map((name) => {
    const field: DescField | undefined = holder?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${desc.typeName} has no field ${names.join(".")}`);
    holder = field.fieldKind === "message" ? field.message : undefined;
    return field;
  });
}
