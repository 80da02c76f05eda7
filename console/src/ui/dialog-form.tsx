import { Dialog } from "@base-ui/react/dialog";
import { Form } from "@base-ui/react/form";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode, type SubmitEvent } from "react";
import { useConsole } from "../app/console-context.ts";
import { type Problem, atFields, isStale, readProblem, restOf, reworded } from "../calls/read-problem.ts";
import { texts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import type { FormDialogProps, Look } from "./form-dialog-props.ts";
import { ProblemText } from "./problem-text.tsx";
import { PreviewNote } from "./preview-note.tsx";

/** What was shown of what the form would do, and for which values. */
interface Shown {
  readonly values: string;
  readonly note: ReactNode;
}

/** Returns how the form asks what the call would do; undefined if it does not. */
function lookOf({ onPreview, look }: Pick<FormDialogProps, "onPreview" | "look">): Look | undefined {
  if (onPreview === undefined) return look;
  return { words: texts.preview.ask, ask: async (form) => <PreviewNote preview={await onPreview(form)} /> };
}

const valuesOf = (form: FormData): string => JSON.stringify([...form]);

/** The form shows errors again when it gets another object, although somebody has changed their fields meanwhile. */
const noErrors = {};

/** The form of a dialog. */
export function DialogForm(props: FormDialogProps) {
  const {
    intro,
    submit,
    kind = "primary",
    cancel = texts.cancel,
    fields = [],
    onClose,
    onSubmit,
    done,
    inWords = (text) => text,
    children,
  } = props;
  const look = lookOf(props);
  const queryClient = useQueryClient();
  const { notices } = useConsole();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState<Shown>();
  const advance = async (form: FormData): Promise<void> => {
    const values = valuesOf(form);
    if (look !== undefined && shown?.values !== values) {
      setShown({ values, note: await look.ask(form) });
      return;
    }
    const answer = await onSubmit(form);
    await queryClient.invalidateQueries();
    onClose();
    const said = typeof done === "function" ? done(form, answer) : done;
    if (said !== undefined) notices.say(said);
  };
  const handle = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(undefined);
    await advance(form).catch((error: unknown) => {
      setProblem(atFields(reworded(readProblem(error), inWords), fields));
      if (isStale(error)) void queryClient.invalidateQueries();
    });
    setBusy(false);
  };
  const rest = restOf(problem, fields);
  const next = look === undefined || shown !== undefined ? submit : look.words;
  return (
    <Form
      className="form"
      errors={problem?.fields ?? noErrors}
      onChange={() => setShown(undefined)}
      onSubmit={(event) => void handle(event)}
    >
      {intro === undefined ? null : <Dialog.Description render={<div />}>{intro}</Dialog.Description>}
      {children}
      {shown?.note}
      {rest === undefined ? null : (
        <div className="note problem" role="alert">
          <ProblemText of={rest} />
        </div>
      )}
      <div className="form-end">
        <Button onClick={onClose}>{cancel}</Button>
        <Button kind={kind} type="submit" disabled={busy}>
          {busy ? texts.working : next}
        </Button>
      </div>
    </Form>
  );
}
