import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

export function valueOf(message: Message, field: DescField): unknown {
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  if (field.oneof === undefined) return fields[field.localName];
  return (fields[field.oneof.localName] as { readonly value: unknown }).value;
}

/** Whether a message is one of google.protobuf, which have no constraints. Some are held as plain values. */
export function isWellKnown({ file }: DescMessage): boolean {
  return file.proto.package === "google.protobuf";
}
