import type { DescEnum, DescMessage } from "@bufbuild/protobuf";

/**
 * Creates a function that returns the component name of a message or enum: its name without the package and without dots, such as
 * `Member` or `MemberState`, in which most generators write it themselves. If that name is taken by a type of another package, the
 * name of the area is in front: `IamMember`; if that is taken as well, the full name.
 *
 * @returns a function of the type, of the function that adds what distinguishes a variant of it to a name, and of the variant, so
 *   that two variants never share a name.
 */
export function createComponentNames(): (
  desc: DescMessage | DescEnum,
  variants: readonly ((name: string) => string)[],
  variant: string,
) => string {
  const owners = new Map<string, string>();
  return (desc, variants, variant) => {
    const { package: packageName } = desc.file.proto;
    const local = packageName === "" ? desc.typeName : desc.typeName.slice(packageName.length + 1);
    const plain = local.replaceAll(".", "");
    const owner = `${desc.typeName} ${variant}`;
    const [area = ""] = packageName.split(".");
    for (const base of [plain, upperFirst(area) + plain, desc.typeName]) {
      for (const vary of variants) {
        const name = vary(base);
        if ((owners.get(name) ?? owner) !== owner) continue;
        owners.set(name, owner);
        return name;
      }
    }
    throw new Error(`no name is left for ${owner}`);
  };
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
