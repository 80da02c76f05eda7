import { createRegistry, type DescFile, type DescMethod, type Registry } from "@bufbuild/protobuf";

/** Creates a registry of all types in the files of the methods' requests and responses, and in the files that they import. */
export function createTypeRegistry(methods: readonly DescMethod[]): Registry {
  const files = new Set<DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const dependency of file.dependencies) add(dependency);
  };
  for (const { input, output } of methods) {
    add(input.file);
    add(output.file);
  }
  return createRegistry(...files);
}
