import { Form } from "@base-ui/react/form";
import { useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useMemo, useState } from "react";
import { type UsageGroup, type UsageSearch, usageMeasures, usagePeriods, usageSteps } from "../../app/usage-search.ts";
import { usageTexts } from "../../texts/usage-texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Choice, SelectField, TextField, valueOf } from "../../ui/text-field.tsx";
import type { AskedPeriod } from "./asked-period.ts";
import { readUsageProblem } from "./usage-problem.ts";

interface UsageFormProps {
  readonly search: UsageSearch;
  readonly period: AskedPeriod;
  readonly kind: string;
  readonly kinds: readonly Choice[];
  readonly by: UsageGroup | undefined;
  readonly groups: readonly UsageGroup[];
  /** The unit of the kind, such as `core`. */
  readonly unit: string;
  readonly error: unknown;
}

/** The names of the fields, at which what the service says is shown. */
export const fieldsOf = ({ choice }: AskedPeriod): readonly string[] => [
  "from_time",
  ...(choice === "days" ? ["to_time"] : []),
  "step",
  "group_by",
];

/** What is shown, which the URL holds. */
export function UsageForm({ search, period, kind, kinds, by, groups, unit, error }: UsageFormProps) {
  const navigate = useNavigate();
  const change = (changes: UsageSearch): void =>
    void navigate({ to: ".", search: (before) => ({ ...before, ...changes }), replace: true });
  const [edited, setEdited] = useState<unknown>();
  // The form shows it again when it gets another object, and cannot be sent with what is said of a field that is right by now.
  const problem = useMemo(
    () => (error === null || error === edited ? {} : readUsageProblem(error, []).fields),
    [error, edited],
  );
  const choosePeriod = (chosen: string): void => {
    const none = { period: undefined, from: undefined, to: undefined, step: undefined };
    // What is shown from day to day begins with what was shown.
    if (chosen === "days") change({ ...none, from: period.firstDay });
    else change({ ...none, period: usagePeriods.find((each) => each === chosen) });
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    change({ from: valueOf(form, "from_time") || undefined, to: valueOf(form, "to_time") || undefined });
  };
  const isDays = period.choice === "days";
  const days = `${search.from ?? ""} ${search.to ?? ""}`;
  return (
    <Form className="usage-form" aria-label={usageTexts.question} errors={problem} onSubmit={submit}>
      <SelectField
        name={isDays ? "period" : "from_time"}
        label={usageTexts.period}
        choices={choicesOf(usageTexts.periods, [...usagePeriods, "days"])}
        value={period.choice}
        onValueChange={choosePeriod}
      />
      <SelectField
        name="step"
        label={usageTexts.step}
        choices={choicesOf(usageTexts.steps, period.steps)}
        value={period.step}
        onValueChange={(chosen) => change({ step: usageSteps.find((step) => step === chosen) })}
      />
      <SelectField
        name="kind"
        label={usageTexts.kind}
        choices={kinds.length === 0 ? [{ value: "", label: usageTexts.noKind }] : kinds}
        value={kind}
        onValueChange={(chosen) => change({ kind: chosen })}
      />
      <SelectField
        name="group_by"
        label={usageTexts.by}
        choices={[{ value: "", label: usageTexts.undivided }, ...choicesOf(usageTexts.groups, groups)]}
        value={by ?? ""}
        onValueChange={(chosen) => change({ by: groups.find((group) => group === chosen) })}
      />
      <SelectField
        name="show"
        label={usageTexts.measure}
        choices={[
          { value: "average", label: usageTexts.average },
          { value: "hours", label: usageTexts.hours(unit) },
        ]}
        value={search.show ?? "average"}
        onValueChange={(chosen) => change({ show: usageMeasures.find((show) => show === chosen) })}
      />
      {isDays ? <Days key={days} search={search} onEdit={() => setEdited(error)} /> : null}
    </Form>
  );
}

const choicesOf = <Name extends string>(labels: Readonly<Record<Name, string>>, names: readonly Name[]): Choice[] =>
  names.map((value) => ({ value, label: labels[value] }));

interface DaysProps {
  readonly search: UsageSearch;
  readonly onEdit: () => void;
}

/** From which day to which; shown when somebody says so, since a day is typed in several parts. */
function Days({ search: { from = "", to = "" }, onEdit }: DaysProps) {
  return (
    <div className="usage-days">
      <TextField name="from_time" label={usageTexts.firstDay} type="date" defaultValue={from} onValueChange={onEdit} />
      <TextField
        name="to_time"
        label={usageTexts.lastDay}
        hint={usageTexts.lastDayHint}
        type="date"
        defaultValue={to}
        onValueChange={onEdit}
      />
      <div className="usage-submit">
        <Button type="submit">{usageTexts.show}</Button>
      </div>
    </div>
  );
}
