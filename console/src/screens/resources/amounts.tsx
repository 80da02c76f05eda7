import { useQualityKinds } from "../../calls/use-catalog.ts";
import { type KindOf, useQuantityKinds } from "../../calls/use-kinds.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { amountOf, writeAmount } from "../../ui/amount.ts";

type ByKind = Readonly<Record<string, number>>;

interface AmountsProps {
  readonly of: ByKind;
  /** What was asked for, where it is less than what was given. */
  readonly askedFor?: ByKind;
  /** Whether they are beside each other; otherwise there is a line for each. */
  readonly inLine?: boolean;
  readonly kindOf: KindOf;
  readonly write: (amount: number, unit: string) => string;
}

/** Amounts by kind. */
function Amounts({ of, askedFor = {}, inLine = false, kindOf, write }: AmountsProps) {
  const kinds = Object.entries(of).map(([key, amount]) => ({ key, amount, ...kindOf(key) }));
  return (
    <ul className={inLine ? "in-line" : undefined}>
      {kinds
        .toSorted((one, other) => one.name.localeCompare(other.name))
        .map(({ key, name, unit, amount }) => {
          const asked = amountOf(askedFor, key) ?? amount;
          return (
            <li key={key}>
              <bdi>{name}</bdi>: {write(amount, unit)}
              {asked === amount ? null : (
                <span className="quiet-text"> ({resourceTexts.askedFor(write(asked, unit))})</span>
              )}
            </li>
          );
        })}
    </ul>
  );
}

type Shown = Pick<AmountsProps, "of" | "askedFor" | "inLine">;

/** Quantities, with their units. */
export function Quantities(props: Shown) {
  return <Amounts {...props} kindOf={useQuantityKinds()} write={writeAmount} />;
}

/** Qualities, with their grades. */
export function Qualities(props: Shown) {
  return <Amounts {...props} kindOf={useQualityKinds()} write={resourceTexts.grade} />;
}

/** Returns what a resource has of each kind, or is to have until it is created. */
export const hasOf = (given: ByKind, askedFor: ByKind): ByKind => ({ ...askedFor, ...given });
