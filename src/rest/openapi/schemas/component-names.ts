import type { DescEnum, DescMessage } from "@bufbuild/protobuf";

/**
 * Creates a function that returns the component name of a message or enum: its name without the package, such as `Member`
 * or `Member.State`. If that name is taken by a type of another package, the full name is used.
 */
export function createComponentNames(): (desc: DescMessage | DescEnum, suffix: string) => string {
  const owners = new Map<string, string>();
  return (desc, suffix) => {
    const { package: packageName } = desc.file.proto;
    const local = packageName === "" ? desc.typeName : desc.typeName.slice(packageName.length + 1);
    for (const name of [local + suffix, desc.typeName + suffix]) {
      const owner = owners.get(name) ?? desc.typeName + suffix;
      if (owner !== desc.typeName + suffix) continue;
      owners.set(name, owner);
      return name;
    }
    throw new Error(`no name is left for ${desc.typeName}${suffix}`);
  };
}
