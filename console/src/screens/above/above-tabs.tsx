import { Tabs } from "@base-ui/react/tabs";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { systemOrg } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { aboveTexts } from "../../texts/above-texts.ts";
import { Empty } from "../../ui/notes.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { fromPlatform, GrantsOf } from "../grants/grants-of.tsx";
import { ChangesOf } from "../overview/recent-changes.tsx";

type TabName = keyof typeof aboveTexts.tabs;

interface AboveTabsProps {
  /** What is in the tabs, in their order. */
  readonly tabs: Readonly<Partial<Record<TabName, ReactNode>>>;
}

/** The tabs of a customer or of the platform. Which one is open is in the URL. */
export function AboveTabs({ tabs }: AboveTabsProps) {
  const { tab } = useSearch({ strict: false });
  const navigate = useNavigate();
  const shown = Object.entries(tabs);
  const current = tab !== undefined && tab in tabs ? tab : shown[0]?.[0];
  // Words and page are those of one list.
  const open = (value: string): void => void navigate({ to: ".", search: { tab: value }, replace: true });
  return (
    <Tabs.Root value={current} onValueChange={open}>
      <Tabs.List className="tabs">
        {shown.map(([name]) => (
          <Tabs.Tab key={name} value={name} className="tab">
            {aboveTexts.tabs[name as TabName]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(([name, content]) => (
        <Tabs.Panel key={name} value={name} className="panel">
          {content}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

interface TabSearchBoxProps {
  readonly label: string;
  /** What narrows the list besides words. */
  readonly children?: ReactNode;
}

/** The search of a list in a tab. */
export function TabSearchBox({ label, children }: TabSearchBoxProps) {
  const { q } = useSearch({ strict: false });
  return (
    <div className="filters">
      <SearchBox label={label} value={q ?? ""} />
      {children}
    </div>
  );
}

interface OfParent {
  /** A customer, such as `/customers/acme`; empty for the platform. */
  readonly parentPath: string;
}

/** Who is granted a role on a customer or on the platform. */
export function AccessTab({ parentPath }: OfParent) {
  const isPlatform = parentPath === "";
  return (
    <GrantsOf
      on={parentPath}
      subjectsOf={isPlatform ? systemOrg : parentPath}
      above={isPlatform ? [] : [fromPlatform]}
      frame={({ button, search, list }) => (
        <>
          <div className="filters">
            {search}
            {button}
          </div>
          {list}
        </>
      )}
    />
  );
}

/** The latest changes of a customer and its orgs, or of everything. */
export function ChangesTab({ parentPath }: OfParent) {
  const may = usePermissions(parentPath, ["iam.changes.list"]).may("iam.changes.list");
  if (may !== true) return may === undefined ? null : <Empty title={aboveTexts.noChanges} />;
  return <ChangesOf parentPath={parentPath} pageSize={30} />;
}
