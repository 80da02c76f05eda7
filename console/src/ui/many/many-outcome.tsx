import { useEffect, useRef } from "react";
import { readProblem, reworded } from "../../calls/read-problem.ts";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";
import { Button } from "../button.tsx";
import { ProblemText } from "../problem-text.tsx";
import type { Outcome } from "./run-each.ts";

interface ManyOutcomeProps<Row> {
  readonly outcome: Outcome<Row>;
  readonly nameOf: (row: Row) => string;
  readonly nouns: Nouns;
  /** Writes what the service says with the names of rows. */
  readonly inWords: (text: string) => string;
  readonly onClose: () => void;
}

/** To how many rows something was done, and to each of the others why not. */
export function ManyOutcome<Row>({ outcome, nameOf, nouns, inWords, onClose }: ManyOutcomeProps<Row>) {
  const { total, done, failures, left } = outcome;
  const end = useRef<HTMLButtonElement>(null);
  // What had the focus is no longer there.
  useEffect(() => end.current?.focus(), []);
  return (
    <div className="form">
      <p role="status">{manyTexts.doneOf(done, total)}</p>
      {failures.length === 0 ? null : (
        <section className="note problem failures" aria-label={manyTexts.failed} tabIndex={0}>
          <ul>
            {failures.map(({ row, error }, index) => (
              <li key={index}>
                <strong>
                  <bdi>{nameOf(row)}</bdi>
                </strong>{" "}
                <ProblemText of={reworded(readProblem(error), inWords)} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {left.length === 0 ? null : <p>{manyTexts.notBegun(left.length, nouns)}</p>}
      <div className="form-end">
        <Button ref={end} onClick={onClose}>
          {manyTexts.close}
        </Button>
      </div>
    </div>
  );
}
