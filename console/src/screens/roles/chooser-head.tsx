import type { Dispatch } from "react";
import { texts } from "../../texts/texts.ts";

interface ChooserHeadProps {
  /** What a search has found; empty without one. */
  readonly found: readonly string[];
  readonly chosen: ReadonlySet<string>;
  readonly only: boolean;
  readonly onOnly: Dispatch<boolean>;
  readonly onChoose: (permissions: readonly string[], on: boolean) => void;
}

/** How many permissions are chosen, and what acts on all that are shown. */
export function ChooserHead({ found, chosen, only, onOnly, onChoose }: ChooserHeadProps) {
  return (
    <div className="chooser-head">
      <span role="status">{texts.chooser.chosen(chosen.size)}</span>
      <label>
        <input type="checkbox" checked={only} onChange={(event) => onOnly(event.target.checked)} />
        {texts.chooser.onlyChosen}
      </label>
      {found.length === 0 ? null : (
        <label>
          <input
            type="checkbox"
            checked={found.every((name) => chosen.has(name))}
            onChange={(event) => onChoose(found, event.target.checked)}
          />
          {texts.chooser.allFound(found.length)}
        </label>
      )}
    </div>
  );
}
