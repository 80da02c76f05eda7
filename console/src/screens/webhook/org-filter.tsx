import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { useOrgChoices } from "../../calls/use-choices.ts";
import { useOrgNames } from "../../calls/use-org-names.ts";
import { texts } from "../../texts/texts.ts";
import { Picker, type Pick } from "../../ui/picker.tsx";

interface OrgFilterProps {
  readonly customer: string;
  /** The only one that is shown, such as `/orgs/acme`; empty for all. */
  readonly org: string;
}

/** Narrows what is shown of a customer to one of its orgs, which the URL holds. */
export function OrgFilter({ customer, org }: OrgFilterProps) {
  const navigate = useNavigate();
  const nameOfOrg = useOrgNames(customer, org === "" ? [] : [org]);
  const label = org === "" ? "" : nameOfOrg(org);
  const useOrgs = useCallback((words: string, open: boolean) => useOrgChoices(customer, words, open), [customer]);
  const choose = (pick: Pick | undefined): void => {
    const search = (before: object): object => ({ ...before, org: pick?.value, page: undefined });
    void navigate({ to: ".", search, replace: true });
  };
  return (
    <Picker
      key={label}
      label={texts.kinds.org}
      value={org === "" ? undefined : { value: org, label }}
      useChoices={useOrgs}
      onPick={choose}
    />
  );
}
