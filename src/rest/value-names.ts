import type { DescEnum } from "@bufbuild/protobuf";

/**
 * Returns the names of the values of an enum that an error offers: not that of the value that stands for none (AIP-126), which is often refused
 * and never needed.
 */
export const valueNames = ({ values }: DescEnum): readonly string[] =>
  values.filter(({ number, name }) => number !== 0 || !name.endsWith("_UNSPECIFIED")).map(({ name }) => name);
