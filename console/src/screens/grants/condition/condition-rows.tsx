import { useState } from "react";
import { conditionTexts } from "../../../texts/condition-texts.ts";
import { Button } from "../../../ui/button.tsx";
import { ConditionPart } from "./condition-part.tsx";
import type { Part } from "./parts.ts";
import { type PresetName, presetPart } from "./presets.ts";
import { readCondition } from "./read-condition.ts";
import { writeCondition } from "./write-condition.ts";

interface ConditionRowsProps {
  /** The condition in CEL. */
  readonly text: string;
  /** Where the role is granted, such as `/orgs/acme`. */
  readonly on: string;
  readonly onText: (text: string) => void;
}

const presetNames = Object.keys(conditionTexts.presets) as PresetName[];

/** Shows what it can read of a condition as comparisons, and writes what is changed in them. The text alone says what the condition is. */
export function ConditionRows({ text, on, onText }: ConditionRowsProps) {
  const [chosen, setChosen] = useState<PresetName>("label");
  const parts = readCondition(text);
  if (parts === undefined) return <p className="hint">{conditionTexts.other}</p>;
  const write = (next: readonly Part[]): void => onText(writeCondition(next));
  return (
    <fieldset className="condition">
      <legend className="label">{conditionTexts.title}</legend>
      {parts.map((part, index) => (
        // Comparisons have no identity but their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="condition-part">
          <ConditionPart
            part={part}
            isFirst={index === 0}
            onChange={(next) => write(parts.with(index, next))}
            onRemove={() => write(parts.toSpliced(index, 1))}
          />
        </div>
      ))}
      <div className="condition-add">
        <select
          className="input"
          aria-label={conditionTexts.choose}
          value={chosen}
          onChange={(event) => setChosen(presetNames.find((name) => name === event.target.value) ?? chosen)}
        >
          {presetNames.map((name) => (
            <option key={name} value={name}>
              {conditionTexts.presets[name]}
            </option>
          ))}
        </select>
        <Button onClick={() => write([...parts, presetPart(chosen, on)])}>{conditionTexts.add}</Button>
      </div>
      {parts.some(({ about }) => about === "context") ? <p className="hint">{conditionTexts.addressHint}</p> : null}
    </fieldset>
  );
}
