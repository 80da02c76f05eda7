import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Org, OrgSchema, OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { Fact } from "../../ui/facts.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { UsedLinks } from "../overview/used-links.tsx";
import { Closing } from "./closing.tsx";
import { ContactsSection } from "./contacts-section.tsx";
import { InvoiceFacts, InvoiceFields, invoiceFields, readInvoiceFields } from "./invoice-facts.tsx";
import { OwnersSection } from "./owners-section.tsx";

/** The account of an org: for whom invoices are, who is warned, who may act, and what is kept when it is closed. */
export function AccountScreen() {
  const { org: name } = useParams({ from: "/orgs/$org/account" });
  const path = `/orgs/${name}`;
  const org = useQuery(OrgsService.method.getOrg, { path });
  return <Answered of={org}>{(data) => <Shown org={data} />}</Answered>;
}

function Shown({ org }: { readonly org: Org }) {
  const permissions = usePermissions(org.path, ["iam.orgs.update"]);
  const [changed, setChanged] = useState<Org>();
  const update = useMutation(OrgsService.method.updateOrg);
  return (
    <Page title={accountTexts.title} intro={accountTexts.intro}>
      <Section
        title={accountTexts.invoices}
        actions={
          <GuardedButton permissions={permissions} permission="iam.orgs.update" onClick={() => setChanged(org)}>
            {texts.change}
          </GuardedButton>
        }
      >
        <InvoiceFacts of={org}>
          <Fact title={texts.kinds.customer}>
            <PathLinks paths={[org.customerPath]} />
          </Fact>
        </InvoiceFacts>
      </Section>
      <ContactsSection kind="org" parent={org.path} />
      <OwnersSection kind="org" on={org.path} />
      <Section title={accountTexts.consumed} actions={<UsedLinks path={org.path} />}>
        {null}
      </Section>
      <Closing kind="org" of={org} />
      <ChangeDialog
        schema={OrgSchema}
        of={changed}
        intro={accountTexts.changeIntro}
        fields={invoiceFields}
        read={readInvoiceFields}
        onClose={() => setChanged(undefined)}
        onChange={({ path, changed: fields, updateMask }) => update.mutateAsync({ path, org: fields, updateMask })}
      >
        <InvoiceFields of={changed} />
      </ChangeDialog>
    </Page>
  );
}
