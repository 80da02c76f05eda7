import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { toFilter } from "../app/list-search.ts";
import type { Pick } from "../ui/picker.tsx";

/** What people call a kind of Quantities, and its unit, such as `byte`. */
export interface KindName {
  readonly name: string;
  readonly unit: string;
}

/** Returns what people call the kinds of Quantities. One that is not known is called by its name in the API. */
export function useKindNames(): (kind: string) => KindName {
  const { data } = useQuery(QuantityKindsService.method.listQuantityKinds, { pageSize: 1_000 }, { retry: false });
  const kinds = new Map(
    (data?.quantityKinds ?? []).map(({ name, displayName, unit }) => [name, { name: displayName || name, unit }]),
  );
  return (kind) => kinds.get(kind) ?? { name: kind, unit: "" };
}

/** Finds kinds of Quantities. */
export function useKindChoices(words: string, open: boolean): readonly Pick[] {
  const request = { pageSize: 20, filter: toFilter(words) };
  const options = { enabled: open, retry: false, placeholderData: keepPreviousData };
  const { data } = useQuery(QuantityKindsService.method.listQuantityKinds, request, options);
  return (data?.quantityKinds ?? []).map(({ name, displayName }) => ({
    value: name,
    label: displayName || name,
    note: name,
  }));
}
