import { Combobox } from "@base-ui/react/combobox";
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { matchesWords } from "../calls/matches-words.ts";
import { nameOf } from "../calls/paths.ts";
import { useTyped } from "../calls/use-typed.ts";
import { texts } from "../texts/texts.ts";
import type { SessionOrg } from "../session/session-answer.ts";
import { toFilter } from "./list-search.ts";
import { useSession } from "./use-session.ts";

interface OrgChoicesProps {
  /** What the button shows. */
  readonly children: ReactNode;
}

/** Leads to another org. It searches on the server, among all that the person may see. Opens at once: somebody has asked for it. */
export function OrgChoices({ children }: OrgChoicesProps) {
  const [open, setOpen] = useState(true);
  const [typed, settled, setTyped] = useTyped();
  const navigate = useNavigate();
  const orgs = useOrgs(typed.trim(), settled, open);
  const go = (org: SessionOrg | null): void => {
    setOpen(false);
    if (org !== null) void navigate({ to: "/orgs/$org", params: { org: nameOf(org.path) } });
  };
  return (
    <Combobox.Root
      items={orgs}
      filter={null}
      value={null}
      open={open}
      onOpenChange={setOpen}
      inputValue={typed}
      onInputValueChange={setTyped}
      onValueChange={go}
      itemToStringLabel={(org: SessionOrg) => org.displayName}
    >
      <Combobox.Trigger className="button quiet org-switch">{children}</Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} align="start" collisionPadding={8} className="positioner">
          <Combobox.Popup className="menu" aria-label={texts.orgs.choose}>
            <Combobox.Input className="input" placeholder={texts.orgs.search} aria-label={texts.orgs.search} />
            <Combobox.Empty className="menu-label">{texts.orgs.noneFound}</Combobox.Empty>
            <Combobox.List>
              {(org: SessionOrg) => (
                <Combobox.Item key={org.path} value={org}>
                  <bdi>{org.displayName}</bdi>
                  <span className="quiet-text">
                    <bdi>{nameOf(org.path)}</bdi>
                  </span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** Returns the orgs that words find, those of the person first; `settled` are the words that are searched for. */
function useOrgs(words: string, settled: string, open: boolean): readonly SessionOrg[] {
  const me = useSession();
  const found = useQuery(
    OrgsService.method.listOrgs,
    { pageSize: 20, filter: toFilter(settled) },
    { enabled: open, retry: false, placeholderData: keepPreviousData },
  );
  const mine = me.members.map(({ org }) => org).filter(({ displayName }) => matchesWords(displayName, words));
  // Until the service has said what it finds, only what has the words is a choice: Enter takes nothing else.
  const pending = found.isPlaceholderData || words !== settled;
  const others = (found.data?.orgs ?? [])
    .filter(({ name, displayName }) => !pending || matchesWords(`${name} ${displayName}`, words))
    .filter((org) => mine.every(({ path: own }) => own !== org.path));
  return [...mine, ...others.map((org) => ({ path: org.path, displayName: org.displayName || org.name }))];
}
