import { create, type DescMessage } from "@bufbuild/protobuf";

/** The fields of a message under construction, by local name. */
export type MutableFields = Record<string, unknown>;

/**
 * Compiles a function that creates empty messages of a type, like `create` of protobuf-es. If messages of the type are plain
 * objects, it clones one, so that all have the same shape, and then sets only the properties that must not be shared.
 */
export function compileCreator(desc: DescMessage): () => MutableFields {
  const empty: MutableFields = create(desc);
  // Outside of proto3, a message inherits the defaults of its fields.
  if (Object.getPrototypeOf(empty) !== Object.prototype) return () => create(desc);
  const lists = desc.fields.filter((field) => field.fieldKind === "list").map((field) => field.localName);
  const maps = desc.fields.filter((field) => field.fieldKind === "map").map((field) => field.localName);
  const oneofs = desc.oneofs.map((oneof) => oneof.localName);
  return () => {
    const message = { ...empty };
    for (const name of lists) message[name] = [];
    for (const name of maps) message[name] = {};
    for (const name of oneofs) message[name] = { case: undefined };
    return message;
  };
}
