import type { DescEnum } from "@bufbuild/protobuf";

/** The names of the values of an enum of the API, without the one that stands for none. */
export type NamesOf<Enum> = Exclude<keyof Enum & string, `${string}_UNSPECIFIED`>;

/** Returns the name of a value of an enum in the API. */
export const nameIn = (schema: DescEnum, value: number): string => schema.value[value]?.name ?? String(value);

/** Returns what people call a value of an enum; its name in the API if the console does not know it. */
export function wordIn(words: Readonly<Record<string, string>>, schema: DescEnum, value: number): string {
  const name = nameIn(schema, value);
  return words[name] ?? name;
}
