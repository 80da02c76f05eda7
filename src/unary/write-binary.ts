import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { keepForFrozen } from "./keep-for-frozen.ts";

/**
 * Compiles a function that writes messages in Protobuf's binary format. Where a message begins with a list of messages, as the responses
 * of List methods do, the bytes of items that are frozen are kept with them: these are in one response after another.
 */
export function compileBinaryWriter(desc: DescMessage): (message: Message) => Uint8Array {
  const [first] = desc.fields.toSorted((one, other) => one.number - other.number);
  if (first?.fieldKind !== "list" || first.listKind !== "message" || first.delimitedEncoding) {
    return (message) => toBinary(desc, message);
  }
  const { localName, number, message: item } = first;
  const bytesOf = keepForFrozen((message) => toBinary(item, message));
  return (message) => {
    const items = (message as unknown as Record<string, readonly Message[]>)[localName] ?? [];
    if (!items.some(Object.isFrozen)) return toBinary(desc, message);
    const writer = new BinaryWriter();
    for (const each of items) writer.tag(number, WireType.LengthDelimited).bytes(bytesOf(each));
    return writer.raw(toBinary(desc, { ...message, [localName]: [] })).finish();
  };
}
