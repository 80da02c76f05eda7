import type { DescFile, DescService } from "@bufbuild/protobuf";
import type { DescriptorProto, EnumDescriptorProto, FieldDescriptorProto } from "@bufbuild/protobuf/wkt";

/** An index of the declarations in the files of services, in other files, and in the files that these import. */
export interface DescriptorIndex {
  readonly services: readonly string[];
  /** Files by the name under which other files import them: `iam/v1alpha/member.proto`. */
  readonly files: ReadonlyMap<string, DescFile>;
  /** Files by the full name of a message, field, oneof, enum, enum value, extension, service or method in them. */
  readonly symbols: ReadonlyMap<string, DescFile>;
  /** Files of extensions: by the full name of the extended message, then by number. */
  readonly extensions: ReadonlyMap<string, ReadonlyMap<number, DescFile>>;
}

export function createDescriptorIndex(
  services: readonly DescService[],
  others: readonly DescFile[] = [],
): DescriptorIndex {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();

  function addFile(file: DescFile): void {
    const { proto, dependencies } = file;
    // Packages contain copies of common imports. Keeps the first, so that each name has one file.
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
      // In Protobuf, enum values are in the scope of their enum's parent.
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
  for (const other of others) addFile(other);
  return { services: services.map(({ typeName }) => typeName), files, symbols, extensions };
}
