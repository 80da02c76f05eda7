import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** The fields on a path of proto names, the named one last. */
export function resolveFields(desc: DescMessage, names: readonly string[]): DescField[] {
  let holder: DescMessage | undefined = desc;
  return names.map((name) => {
    const field: DescField | undefined = holder?.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${desc.typeName} has no field ${names.join(".")}`);
    holder = field.fieldKind === "message" ? field.message : undefined;
    return field;
  });
}
