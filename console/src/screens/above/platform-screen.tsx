import { useLiveAbove } from "../../calls/use-live-above.ts";
import { aboveTexts } from "../../texts/above-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Page } from "../../ui/page.tsx";
import { OrgList, OrgStateFilter, useOrgs } from "../home/org-list.tsx";
import { AboveTabs, AccessTab, ChangesTab, TabSearchBox } from "./above-tabs.tsx";
import { CustomersTab } from "./customers-tab.tsx";
import { WaitingEverywhere } from "./waiting-everywhere.tsx";

/** The platform at a glance: what waits, all orgs and customers, what has changed in them, and who operates the platform. */
export function PlatformScreen() {
  useLiveAbove("");
  return (
    <Page title={texts.platform} intro={aboveTexts.platformIntro}>
      <WaitingEverywhere where="" />
      <AboveTabs
        tabs={{
          orgs: <OrgsTab />,
          customers: <CustomersTab />,
          changes: <ChangesTab parentPath="" />,
          access: <AccessTab parentPath="" />,
        }}
      />
    </Page>
  );
}

function OrgsTab() {
  const orgs = useOrgs();
  return (
    <>
      <TabSearchBox label={texts.orgs.search}>
        <OrgStateFilter />
      </TabSearchBox>
      <OrgList of={orgs} parentPath="" withCustomers />
    </>
  );
}
