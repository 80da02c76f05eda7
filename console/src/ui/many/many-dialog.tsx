import { Dialog } from "@base-ui/react/dialog";
import { useState } from "react";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";
import { DialogForm } from "../dialog-form.tsx";
import type { ManyAction } from "./many-action.ts";
import { LeaveQuestion } from "./leave-question.tsx";
import { ManyOutcome } from "./many-outcome.tsx";
import { ManyIntro, ManyNames, ManyProgress } from "./many-parts.tsx";
import { type Outcome, isWhole, restOf } from "./run-each.ts";
import { useRun } from "./use-run.ts";
import { withNames } from "./with-names.ts";

interface ManyDialogProps<Row> {
  readonly action: ManyAction<Row>;
  readonly rows: readonly Row[];
  /** How many of the chosen rows it cannot be done to. */
  readonly leftOut: number;
  readonly keyOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly nouns: Nouns;
  /** Called with the rows to which it was not done; with nothing if nothing was tried. */
  readonly onClose: (rest?: readonly Row[]) => void;
}

/** Asks whether to do something to several rows, does it, and says what failed. */
export function ManyDialog<Row extends { readonly path: string }>(props: ManyDialogProps<Row>) {
  const { action, rows, leftOut, keyOf, nameOf, nouns, onClose } = props;
  const { act, question, submit: submitWords = act, intro, kind = "primary", run, fields = [], form } = action;
  const { tried, running, stopping, ended, begin, stop, said } = useRun(action, rows, nouns);
  const [outcome, setOutcome] = useState<Outcome<Row>>();
  const inWords = (text: string): string => withNames(text, rows, keyOf, nameOf);
  const end = (result: Outcome<Row>): void => (isWhole(result) ? onClose([]) : setOutcome(result));
  const close = (): void => {
    if (outcome !== undefined) onClose(restOf(outcome));
    else if (ended.current !== undefined) end(ended.current);
    else if (tried === undefined) onClose();
    else stop();
  };
  const preview = "together" in run ? run.preview : undefined;
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title className="dialog-title">
            {question?.(rows.length) ?? manyTexts.question(act, rows.length, nouns)}
          </Dialog.Title>
          {outcome === undefined ? (
            <DialogForm
              title={act}
              open
              intro={<ManyIntro words={intro} isEach={"each" in run} leftOut={leftOut} nouns={nouns} />}
              submit={submitWords}
              kind={kind}
              fields={fields}
              {...(tried !== undefined && { cancel: manyTexts.stop })}
              {...(preview && { onPreview: (data: FormData) => preview(rows, data) })}
              done={said}
              inWords={inWords}
              onClose={close}
              onSubmit={begin}
            >
              <ManyNames names={rows.map(nameOf)} />
              {form}
              {tried === undefined ? null : <ManyProgress tried={tried} total={rows.length} stopping={stopping} />}
            </DialogForm>
          ) : (
            <ManyOutcome outcome={outcome} nameOf={nameOf} nouns={nouns} inWords={inWords} onClose={close} />
          )}
          <LeaveQuestion running={running} left={rows.length - (tried ?? 0)} lost={action.lost} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
