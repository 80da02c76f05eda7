// What people call the kinds of Quantities. Everybody may read them.
import { useQuery } from "@connectrpc/connect-query";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";

/** A kind of Quantities or Qualities. */
export interface Kind {
  /** What people call it. */
  readonly name: string;
  /** The unit of amounts, such as `byte`; empty for Qualities. */
  readonly unit: string;
}

/** Returns a kind by its name in the API. One that is not known is called by that. */
export type KindOf = (name: string) => Kind;

/** The most that are known. */
export const mostKinds = 1_000;

interface NamedKind {
  readonly name: string;
  readonly displayName: string;
  readonly unit?: string;
}

export function toKindOf(known: readonly NamedKind[]): KindOf {
  const kinds = new Map(known.map(({ name, displayName, unit = "" }) => [name, { name: displayName || name, unit }]));
  return (name) => kinds.get(name) ?? { name, unit: "" };
}

/** Returns the kinds of Quantities. */
export function useQuantityKinds(): KindOf {
  const request = { pageSize: mostKinds };
  const { data } = useQuery(QuantityKindsService.method.listQuantityKinds, request, { retry: false });
  return toKindOf(data?.quantityKinds ?? []);
}
