import type { DescMethod } from "@bufbuild/protobuf";

export function takesField({ input }: DescMethod, field: string): boolean {
  return input.fields.some(({ name }) => name === field);
}
