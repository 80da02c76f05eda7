import { Combobox } from "@base-ui/react/combobox";
import { Field } from "@base-ui/react/field";
import { useState } from "react";
import { matchesWords } from "../calls/matches-words.ts";
import { useTyped } from "../calls/use-typed.ts";
import { texts } from "../texts/texts.ts";

export interface Pick {
  /** What is chosen, such as a path. */
  readonly value: string;
  readonly label: string;
  /** What tells two of the same label apart. */
  readonly note?: string;
}

export interface Choices {
  readonly found: readonly Pick[];
  /** Whether they may still be those of other words. */
  readonly pending: boolean;
  /** What has to be done before anything can be found. */
  readonly first?: string;
}

interface PickerProps {
  readonly label: string;
  readonly required?: boolean;
  readonly hint?: string;
  readonly value: Pick | undefined;
  /** Finds what words mean, on the server. Called as a hook. */
  readonly useChoices: (words: string, open: boolean) => Choices;
  readonly onPick: (pick: Pick | undefined) => void;
  /** The name of the field in a form, such as `role_path`, at which what the service says about it is shown. */
  readonly name?: string;
  /** Also takes what was typed as it is, such as the permission of another service. */
  readonly free?: boolean;
}

/** A field whose choices are searched for while somebody types. */
export function Picker({ label, required = false, hint, value, useChoices, onPick, name, free = false }: PickerProps) {
  const [open, setOpen] = useState(false);
  const [typed, settled, setTyped] = useTyped(value?.label ?? "");
  const wordsIn = (text: string): string => (text === value?.label ? "" : text);
  const choices = useChoices(wordsIn(settled), open);
  const words = wordsIn(typed.trim());
  // Until the service has said what it finds, only what has the words is a choice: Enter takes nothing else.
  const pending = choices.pending || typed.trim() !== settled;
  const found = choices.found.filter((pick) => !pending || matchesWords(searchedIn(pick), words));
  // What was typed is the last choice, once it is known what else there is.
  const isOwn = free && !pending && words !== "" && found.every((pick) => pick.value !== words);
  const items = isOwn ? [...found, { value: words, label: words }] : found;
  return (
    <Field.Root className="field" {...(name === undefined ? {} : { name })}>
      <Combobox.Root<Pick>
        items={items}
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
        <Field.Label className="label">
          <bdi>{label}</bdi>
          {required ? texts.required : ""}
        </Field.Label>
        <Combobox.Input
          className="input"
          spellCheck={false}
          onKeyDown={(event) => {
            // Without a choice, it would send the form.
            if (event.key === "Enter" && open && pending && items.length === 0) event.preventDefault();
          }}
        />
        {hint === undefined ? null : <Field.Description className="hint">{hint}</Field.Description>}
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} align="start" collisionPadding={8} className="positioner">
            <Combobox.Popup className="menu" aria-label={label}>
              <Combobox.Empty className="menu-label">
                {choices.first ?? (pending ? texts.loading : texts.nothingFound)}
              </Combobox.Empty>
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

const searchedIn = ({ value, label, note = "" }: Pick): string => `${label} ${note} ${value}`;
