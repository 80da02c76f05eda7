import { conditionTexts } from "../../../texts/condition-texts.ts";
import { Button } from "../../../ui/button.tsx";
import type { Choice } from "../../../ui/text-field.tsx";
import { type About, firstKey, type Operator, operatorsOf, type Part } from "./parts.ts";

interface ConditionPartProps {
  readonly part: Part;
  readonly isFirst: boolean;
  readonly onChange: (part: Part) => void;
  readonly onRemove: () => void;
}

/** One comparison: what, how, and with what. */
export function ConditionPart({ part, isFirst, onChange, onRemove }: ConditionPartProps) {
  const { about, key, operator } = part;
  const what = conditionTexts.about[about];
  const operators = operatorsOf[about].map((each) => ({ value: each, label: conditionTexts.operators[each] }));
  const chooseOperator = (value: string): void => {
    const next: Operator | undefined = operatorsOf[about].find((each) => each === value);
    if (next !== undefined) onChange({ ...part, operator: next });
  };
  return (
    <>
      <span className="condition-what">
        {isFirst ? "" : `${conditionTexts.also} `}
        {what}
      </span>
      {firstKey[about] === undefined ? null : (
        <input
          className="input"
          aria-label={keyLabel(about)}
          value={key}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => onChange({ ...part, key: event.target.value })}
        />
      )}
      <Select label={conditionTexts.operator(what)} choices={operators} value={operator} onChoose={chooseOperator} />
      <Value part={part} label={conditionTexts.value(what)} onValue={(value) => onChange({ ...part, value })} />
      <Button kind="quiet" aria-label={conditionTexts.remove(what)} onClick={onRemove}>
        <span aria-hidden="true">✕</span>
      </Button>
    </>
  );
}

const keyLabel = (about: About): string =>
  about === "label" || about === "context" ? conditionTexts.key[about] : conditionTexts.key.zone;

interface SelectProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

function Select({ label, choices, value, onChoose }: SelectProps) {
  // What the text has is always among the choices.
  const shown = choices.some((choice) => choice.value === value) ? choices : [...choices, { value, label: value }];
  return (
    <select className="input" aria-label={label} value={value} onChange={(event) => onChoose(event.target.value)}>
      {shown.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

const hours: readonly Choice[] = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: conditionTexts.hour(hour),
}));

const fixedChoices: Readonly<Partial<Record<About, readonly Choice[]>>> = {
  hour: hours,
  weekday: conditionTexts.days.map((label, day) => ({ value: String(day), label })),
  subject: Object.entries(conditionTexts.subjects).map(([value, label]) => ({ value, label })),
};

interface ValueProps {
  readonly part: Part;
  readonly label: string;
  readonly onValue: (value: string) => void;
}

function Value({ part: { about, value }, label, onValue }: ValueProps) {
  const choices = fixedChoices[about];
  if (choices !== undefined) return <Select label={label} choices={choices} value={value} onChoose={onValue} />;
  const isTime = about === "time";
  return (
    <input
      className="input"
      aria-label={label}
      type={isTime ? "datetime-local" : "text"}
      value={isTime ? toLocal(value) : value}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => onValue(isTime ? toUtc(target.value) : target.value)}
    />
  );
}

/** Writes a time such as `2026-12-04T17:00:00Z` as a field for times takes it, in the zone of the browser; empty if it is none. */
function toLocal(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "";
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

function toUtc(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().replace(/\.\d+Z$/, "Z");
}
