import { Combobox } from "@base-ui/react/combobox";
import { Field } from "@base-ui/react/field";
import { useState } from "react";
import { useTyped } from "../calls/use-typed.ts";
import { texts } from "../texts/texts.ts";

export interface Pick {
  /** What is chosen, such as a path. */
  readonly value: string;
  readonly label: string;
  /** What tells two of the same label apart. */
  readonly note?: string;
}

interface PickerProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: Pick | undefined;
  /** Finds what words mean, on the server. Called as a hook. */
  readonly useChoices: (words: string, open: boolean) => readonly Pick[];
  readonly onPick: (pick: Pick | undefined) => void;
  /** The name of the field in a form, such as `role_path`, at which what the service says about it is shown. */
  readonly name?: string;
  /** Also takes what was typed as it is, such as the permission of another service. */
  readonly free?: boolean;
}

/** A field whose choices are searched for while somebody types. */
export function Picker({ label, hint, value, useChoices, onPick, name, free = false }: PickerProps) {
  const [open, setOpen] = useState(false);
  const [typed, settled, setTyped] = useTyped(value?.label ?? "");
  const words = settled === value?.label ? "" : settled;
  const found = useChoices(words, open);
  const own =
    free && words !== "" && found.every((pick) => pick.value !== words) ? [{ value: words, label: words }] : [];
  return (
    <Field.Root className="field" {...(name === undefined ? {} : { name })}>
      <Combobox.Root<Pick>
        items={[...own, ...found]}
        filter={null}
        value={value ?? null}
        open={open}
        onOpenChange={setOpen}
        inputValue={typed}
        onInputValueChange={setTyped}
        onValueChange={(pick) => onPick(pick ?? undefined)}
        isItemEqualToValue={(a, b) => a.value === b.value}
        autoHighlight
      >
        <Field.Label className="label">{label}</Field.Label>
        <Combobox.Input className="input" spellCheck={false} />
        {hint === undefined ? null : <Field.Description className="hint">{hint}</Field.Description>}
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} align="start" collisionPadding={8} className="positioner">
            <Combobox.Popup className="menu" aria-label={label}>
              <Combobox.Empty className="menu-label">{texts.nothingFound}</Combobox.Empty>
              <Combobox.List>
                {(pick: Pick) => (
                  <Combobox.Item key={pick.value} value={pick}>
                    <bdi>{pick.label}</bdi>
                    {pick.note === undefined ? null : (
                      <span className="quiet-text">
                        <bdi>{pick.note}</bdi>
                      </span>
                    )}
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      {name === undefined ? null : (
        <>
          <input type="hidden" name={name} value={value?.value ?? ""} />
          <Field.Error className="field-error" />
        </>
      )}
    </Field.Root>
  );
}
