import { useCallback, useState } from "react";
import { useGroupChoices } from "../../calls/use-choices.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Picker } from "../../ui/picker.tsx";

interface GroupsFieldProps {
  readonly org: string;
  /** The name of the field in a form, which has the paths with spaces between them. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** The paths of the groups that are chosen at first. */
  readonly groups?: readonly string[];
}

/** Several groups of an org: each is searched for, and can be taken out again. */
export function GroupsField({ org, name, label, hint, groups = [] }: GroupsFieldProps) {
  const [paths, setPaths] = useState(groups);
  const displayNameOf = useDisplayNames(paths);
  const useGroups = useCallback(
    (words: string, open: boolean) => {
      const choices = useGroupChoices(org, words, open);
      return { ...choices, found: choices.found.filter(({ value }) => !paths.includes(value)) };
    },
    [org, paths],
  );
  return (
    <>
      <Picker
        // Empty again when a group was taken.
        key={paths.length}
        label={label}
        hint={hint}
        value={undefined}
        useChoices={useGroups}
        onPick={(pick) => pick !== undefined && setPaths([...paths, pick.value])}
      />
      {paths.length === 0 ? null : (
        <ul className="chosen-list" aria-label={label}>
          {paths.map((path) => (
            <li key={path}>
              <bdi title={path}>{displayNameOf(path)}</bdi>
              <Button
                kind="quiet"
                aria-label={texts.groups.leaveOut(displayNameOf(path))}
                onClick={() => setPaths(paths.filter((each) => each !== path))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
      <input type="hidden" name={name} value={paths.join(" ")} />
    </>
  );
}
