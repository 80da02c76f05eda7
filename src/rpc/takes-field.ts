import type { DescMethod } from "@bufbuild/protobuf";

/** Whether a method's request has a field of that name. */
export function takesField({ input }: DescMethod, field: string): boolean {
  return input.fields.some(({ name }) => name === field);
}
