import type { DescFile, DescService } from "@bufbuild/protobuf";
import type { DescriptorProto, EnumDescriptorProto, FieldDescriptorProto } from "@bufbuild/protobuf/wkt";

/** What is declared in the files of some services and in what they import. */
export interface DescriptorIndex {
  /** Full names. */
  readonly services: readonly string[];
  /** By the name under which other files import it: `iam/v1alpha/member.proto`. */
  readonly files: ReadonlyMap<string, DescFile>;
  /** The file of each full name: of a message, field, oneof, enum, enum value, extension, service or method. */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** The file of each extension: by number, of each message by full name. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

export function createDescriptorIndex(services: readonly DescService[]): DescriptorIndex {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();

  function addFile(file: DescFile): void {
    const { proto, dependencies } = file;
    // Packages bring copies of common imports: the first is taken, so that a name has one file.
    if (files.has(proto.name)) return;
    files.set(proto.name, file);
    for (const dependency of dependencies) addFile(dependency);
    const scope = proto.package === "" ? "" : `${proto.package}.`;
    addDeclarations(file, scope, proto.messageType, proto.enumType, proto.extension);
    for (const service of proto.service) {
      symbols.set(scope + service.name, file);
      for (const method of service.method) symbols.set(`${scope}${service.name}.${method.name}`, file);
    }
  }

  function addDeclarations(
    file: DescFile,
    scope: string,
    messages: readonly DescriptorProto[],
    enums: readonly EnumDescriptorProto[],
    extending: readonly FieldDescriptorProto[],
  ): void {
    for (const message of messages) {
      const name = scope + message.name;
      symbols.set(name, file);
      extensionsOf(name);
      for (const member of [...message.field, ...message.oneofDecl]) symbols.set(`${name}.${member.name}`, file);
      addDeclarations(file, `${name}.`, message.nestedType, message.enumType, message.extension);
    }
    for (const { name, value } of enums) {
      symbols.set(scope + name, file);
      // Protobuf puts the values beside their enum, not into it.
      for (const { name: valueName } of value) symbols.set(scope + valueName, file);
    }
    for (const { name, extendee, number } of extending) {
      symbols.set(scope + name, file);
      extensionsOf(extendee.replace(/^\./, "")).set(number, file);
    }
  }

  function extensionsOf(message: string): Map<number, DescFile> {
    let numbers = extensions.get(message);
    if (numbers === undefined) extensions.set(message, (numbers = new Map()));
    return numbers;
  }

  for (const service of services) addFile(service.file);
  return { services: services.map(({ typeName }) => typeName), files, symbols, extensions };
}
