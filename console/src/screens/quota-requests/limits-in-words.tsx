import { Fragment } from "react";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { writeAmount } from "../../ui/amount.ts";

/** Limits, such as `CPU cores 64, Memory 16 GiB`. */
export function LimitsInWords({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  const kindOf = useQuantityKinds();
  return Object.entries(limits)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([kind, limit], index) => {
      const { name, unit } = kindOf(kind);
      return (
        <Fragment key={kind}>
          {index === 0 ? "" : ", "}
          <bdi>{name}</bdi> {writeAmount(limit, unit)}
        </Fragment>
      );
    });
}
