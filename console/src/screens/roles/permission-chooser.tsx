import { Field } from "@base-ui/react/field";
import { type Dispatch, useState } from "react";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { ChooserHead } from "./chooser-head.tsx";
import { GroupChoice } from "./group-choice.tsx";
import { groupPermissions, isPermission, permissionSearch } from "./permission-groups.ts";

interface PermissionChooserProps {
  /** The permissions that can be found. */
  readonly known: readonly string[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: Dispatch<ReadonlySet<string>>;
}

/** As many collections that are found are shown opened. */
const fewGroups = 8;

/** Chooses permissions, by service and collection or by words and patterns. A form has them as `permissions`. */
export function PermissionChooser({ known, chosen, onChoose }: PermissionChooserProps) {
  const [words, setWords] = useState("");
  // What was chosen when somebody asked for only that, so that what is taken away stays where it can be put back.
  const [only, setOnly] = useState<ReadonlySet<string>>();
  // What the service does not name, but the role has had, or somebody has added.
  const [others, setOthers] = useState(chosen);
  const own = words.trim();
  const all = new Set([...known, ...others]);
  const found = [...all].filter(permissionSearch(own)).filter((name) => only?.has(name) ?? true);
  const groups = groupPermissions(found);
  const totals = new Map(groupPermissions(all).map(({ collection, permissions }) => [collection, permissions.length]));
  const narrowed = own !== "" || only !== undefined;
  const choose = (names: readonly string[], on: boolean): void => {
    const named = new Set(names);
    const kept = [...chosen].filter((name) => !named.has(name));
    onChoose(new Set(on ? [...kept, ...names] : kept));
  };
  const addable = isPermission(own) && !all.has(own);
  const add = (): void => {
    setOthers(new Set([...others, own]));
    choose([own], true);
  };
  return (
    <Field.Root name="permissions" className="field" render={<fieldset className="chooser" />}>
      <legend className="label">{texts.roles.permissions}</legend>
      <SearchField words={words} onWords={setWords} onEnter={() => addable && add()} />
      <ChooserHead
        found={own === "" ? [] : found}
        chosen={chosen}
        only={only !== undefined}
        onOnly={(on) => setOnly(on ? chosen : undefined)}
        onChoose={choose}
      />
      {addable ? <AddButton permission={own} onAdd={add} /> : null}
      {found.length === 0 && !addable ? <p className="quiet-text">{texts.nothingFound}</p> : null}
      <div className="chooser-groups">
        {groups.map((group) => (
          <GroupChoice
            key={`${group.collection} ${narrowed}`}
            group={group}
            total={totals.get(group.collection) ?? 0}
            chosen={chosen}
            opened={narrowed && groups.length <= fewGroups}
            onChoose={choose}
          />
        ))}
      </div>
      {[...chosen].map((name) => (
        <input key={name} type="hidden" name="permissions" value={name} />
      ))}
      <Field.Error className="field-error" />
    </Field.Root>
  );
}

interface SearchFieldProps {
  readonly words: string;
  readonly onWords: Dispatch<string>;
  readonly onEnter: () => void;
}

function SearchField({ words, onWords, onEnter }: SearchFieldProps) {
  return (
    <>
      <input
        type="search"
        className="input"
        aria-label={texts.chooser.search}
        placeholder={texts.chooser.search}
        value={words}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // It would send the form.
          event.preventDefault();
          onEnter();
        }}
      />
      <p className="hint">{texts.chooser.hint}</p>
    </>
  );
}

/** Adds a permission of another service, which need not be registered here. */
function AddButton({ permission, onAdd }: { readonly permission: string; readonly onAdd: () => void }) {
  return (
    <p>
      <Button onClick={onAdd}>
        {texts.chooser.add} <code>{permission}</code>
      </Button>{" "}
      <span className="quiet-text">{texts.chooser.ofOther}</span>
    </p>
  );
}
