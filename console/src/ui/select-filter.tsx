import { useNavigate } from "@tanstack/react-router";
import { stateNames } from "../texts/state-names.ts";
import type { Choice } from "./text-field.tsx";

/** Returns the choices of a state of the API, such as `ACTIVE`, after that for any. */
export const stateChoicesOf = (any: string, states: readonly string[]): readonly Choice[] => [
  { value: "", label: any },
  ...states.map((value) => ({ value, label: stateNames[value] ?? value })),
];

interface SelectFilterProps {
  readonly label: string;
  /** The part of the URL that holds what is chosen. */
  readonly name: string;
  readonly value: string;
  readonly choices: readonly Choice[];
}

export function SelectFilter({ label, name, value, choices }: SelectFilterProps) {
  const navigate = useNavigate();
  const choose = (chosen: string): void => {
    const search = (before: object): object => ({
      ...before,
      [name]: chosen === "" ? undefined : chosen,
      page: undefined,
    });
    void navigate({ to: ".", search, replace: true });
  };
  return (
    <select className="input filter" aria-label={label} value={value} onChange={(event) => choose(event.target.value)}>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}
