import { Form } from "@base-ui/react/form";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { type MomentNames, timeIn } from "../calls/moment.ts";
import { momentTexts } from "../texts/moment-texts.ts";
import { Button } from "./button.tsx";
import { toLocalInput } from "./endings.ts";
import { TextField } from "./text-field.tsx";

interface MomentFormProps {
  readonly label: string;
  readonly names: MomentNames;
  readonly timeLabel: string;
  readonly revisionLabel: string;
  /** What is asked about; undefined for nothing yet. */
  readonly asked: string | undefined;
  /** What the service says about it, by the names of its fields. */
  readonly problem: Readonly<Record<string, string>> | undefined;
  readonly submit: string;
  readonly onAsk: (moment: string | undefined) => void;
  /** Beside the button that asks. */
  readonly children?: ReactNode;
}

const noProblem = {};

interface Typed {
  readonly time: string;
  readonly revision: string;
  /** The moment that was asked about when it was typed. */
  readonly after: string | undefined;
}

/** Asks for a moment: a time in the zone of the person, or a revision. */
export function MomentForm(props: MomentFormProps) {
  const { label, names, timeLabel, revisionLabel, asked, problem, submit, onAsk, children } = props;
  const [typed, setTyped] = useState<Typed>();
  const time = asked === undefined ? undefined : timeIn(asked);
  const given = {
    time: time === undefined ? "" : toLocalInput(time),
    revision: time === undefined ? (asked ?? "") : "",
  };
  const shown = typed?.after === asked && typed !== undefined ? typed : { ...given, after: asked };
  const ask = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const revision = shown.revision.trim();
    // Whoever gets the link may be in another zone.
    const at = shown.time === "" ? undefined : new Date(shown.time).toISOString();
    onAsk(revision === "" ? at : revision);
  };
  return (
    <Form className="moment" aria-label={label} errors={problem ?? noProblem} onSubmit={ask}>
      <TextField
        name={names.time}
        label={timeLabel}
        type="datetime-local"
        step="any"
        value={shown.time}
        onValueChange={(text) => setTyped({ ...shown, time: text })}
      />
      <TextField
        name={names.revision}
        label={revisionLabel}
        hint={momentTexts.revisionHint}
        value={shown.revision}
        onValueChange={(text) => setTyped({ ...shown, revision: text })}
      />
      <div className="moment-end">
        <Button type="submit">{submit}</Button>
        {children}
      </div>
    </Form>
  );
}
