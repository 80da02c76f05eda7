import { Progress } from "@base-ui/react/progress";
import { type Nouns, manyTexts } from "../../texts/many-texts.ts";

interface ManyIntroProps {
  readonly words: string | undefined;
  readonly isEach: boolean;
  readonly leftOut: number;
  readonly nouns: Nouns;
}

/** What will happen, and to which of the chosen rows it will not. */
export function ManyIntro({ words, isEach, leftOut, nouns }: ManyIntroProps) {
  return (
    <>
      <p>
        {words} {isEach ? manyTexts.each : manyTexts.together}
      </p>
      {leftOut === 0 ? null : <p className="quiet-text">{manyTexts.leftOut(leftOut, nouns)}</p>}
    </>
  );
}

/** All of them: somebody sees what they are about to do. */
export function ManyNames({ names }: { readonly names: readonly string[] }) {
  return (
    // What scrolls has to be reached with the keyboard.
    <ul className="names" aria-label={manyTexts.names} tabIndex={0}>
      {names.map((name, index) => (
        // Two rows can have the same name, and the list does not change.
        <li key={index}>
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  );
}

interface ManyProgressProps {
  readonly tried: number;
  readonly total: number;
  readonly stopping: boolean;
}

export function ManyProgress({ tried, total, stopping }: ManyProgressProps) {
  return (
    <Progress.Root className="meter" value={tried} max={total} aria-label={manyTexts.progress}>
      <Progress.Track className="meter-track meter-root">
        <Progress.Indicator className="meter-bar" />
      </Progress.Track>
      <span className="quiet-text">{stopping ? manyTexts.stopping : manyTexts.triedOf(tried, total)}</span>
    </Progress.Root>
  );
}
