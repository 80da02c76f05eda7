import { Dialog } from "@base-ui/react/dialog";
import { useEffect, useRef, useState } from "react";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";
import { DialogForm } from "../dialog-form.tsx";
import type { ManyAction } from "./many-action.ts";
import { ManyOutcome } from "./many-outcome.tsx";
import { ManyIntro, ManyNames, ManyProgress } from "./many-parts.tsx";
import { type Outcome, isWhole, restOf, runEach } from "./run-each.ts";

interface ManyDialogProps<Row> {
  readonly action: ManyAction<Row>;
  readonly rows: readonly Row[];
  /** How many of the chosen rows it cannot be done to. */
  readonly leftOut: number;
  readonly nameOf: (row: Row) => string;
  readonly nouns: Nouns;
  /** Called with the rows to which it was not done; with nothing if nothing was tried. */
  readonly onClose: (rest?: readonly Row[]) => void;
}

/** Asks whether to do something to several rows, does it, and says what failed. */
export function ManyDialog<Row>({ action, rows, leftOut, nameOf, nouns, onClose }: ManyDialogProps<Row>) {
  const { act, question, submit: submitWords = act, done, intro, kind = "primary", run, fields = [], form } = action;
  const [tried, setTried] = useState<number>();
  const [outcome, setOutcome] = useState<Outcome<Row>>();
  const [stopping, setStopping] = useState(false);
  const stopped = useStopped();
  // The form reads again what screens show before it closes.
  const ended = useRef<Outcome<Row>>(undefined);
  const submit = async (data: FormData): Promise<void> => {
    if ("together" in run) {
      await run.together(rows, data);
      ended.current = { total: rows.length, done: rows.length, failures: [], left: [] };
    } else {
      setTried(0);
      ended.current = await runEach(
        rows,
        (row) => run.each(row, data),
        () => stopped.current,
        setTried,
      );
    }
  };
  const isAllDone = (): boolean => ended.current !== undefined && isWhole(ended.current);
  const end = (result: Outcome<Row>): void => (isWhole(result) ? onClose([]) : setOutcome(result));
  const close = (): void => {
    if (outcome !== undefined) onClose(restOf(outcome));
    else if (ended.current !== undefined) end(ended.current);
    else if (tried === undefined) onClose();
    else {
      // The one that has begun ends before anything else happens.
      stopped.current = true;
      setStopping(true);
    }
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
              done={() => (isAllDone() ? manyTexts.done(done, rows.length, nouns) : undefined)}
              onClose={close}
              onSubmit={submit}
            >
              <ManyNames names={rows.map(nameOf)} />
              {form}
              {tried === undefined ? null : <ManyProgress tried={tried} total={rows.length} stopping={stopping} />}
            </DialogForm>
          ) : (
            <ManyOutcome outcome={outcome} nameOf={nameOf} nouns={nouns} onClose={close} />
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Whether somebody has stopped what goes on, or has opened another screen. */
function useStopped() {
  const stopped = useRef(false);
  useEffect(() => {
    stopped.current = false;
    return () => {
      stopped.current = true;
    };
  }, []);
  return stopped;
}
