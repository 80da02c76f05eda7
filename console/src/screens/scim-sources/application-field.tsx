import { useCallback, useState } from "react";
import { useApplicationChoices } from "../../calls/use-choices.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { type Pick, Picker } from "../../ui/picker.tsx";

interface ApplicationFieldProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** What is chosen at first. */
  readonly application?: Pick | undefined;
}

/** The application of an org as which a directory acts. */
export function ApplicationField({ org, application }: ApplicationFieldProps) {
  const [chosen, setChosen] = useState(application);
  const useApplications = useCallback((words: string, open: boolean) => useApplicationChoices(org, words, open), [org]);
  return (
    <Picker
      name="member_path"
      label={scimTexts.application}
      hint={scimTexts.applicationHint}
      value={chosen}
      useChoices={useApplications}
      onPick={setChosen}
    />
  );
}
