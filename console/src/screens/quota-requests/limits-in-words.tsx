import { useKindNames } from "../../calls/use-kinds.ts";
import { writeAmount } from "../../ui/amount.ts";

/** Limits, such as `CPU cores 64, Memory 16 GiB`. */
export function LimitsInWords({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  const namesOf = useKindNames();
  const words = Object.entries(limits)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([kind, limit]) => {
      const { name, unit } = namesOf(kind);
      return `${name} ${writeAmount(limit, unit)}`;
    });
  return <bdi>{words.join(", ")}</bdi>;
}
