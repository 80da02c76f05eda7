import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Customer, CustomerSchema, CustomersService } from "../../../../gen/iam/v1alpha/customer_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accountTexts } from "../../texts/account-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Section } from "../../ui/page.tsx";
import { Closing } from "./closing.tsx";
import { ContactsSection } from "./contacts-section.tsx";
import { InvoiceFacts, InvoiceFields, invoiceFields, readInvoiceFields } from "./invoice-facts.tsx";
import { OwnersSection } from "./owners-section.tsx";

/** The account of a customer: for whom invoices are, who is warned, who may act, and what is kept when it is closed. */
export function CustomerAccount({ customer }: { readonly customer: Customer }) {
  const permissions = usePermissions(customer.path, ["iam.customers.update"]);
  const [changed, setChanged] = useState<Customer>();
  const update = useMutation(CustomersService.method.updateCustomer);
  return (
    <>
      <Section
        title={accountTexts.invoices}
        actions={
          <GuardedButton
            permissions={permissions}
            permission="iam.customers.update"
            onClick={() => setChanged(customer)}
          >
            {texts.change}
          </GuardedButton>
        }
      >
        <InvoiceFacts of={customer} />
      </Section>
      <ContactsSection kind="customer" parent={customer.path} />
      <OwnersSection kind="customer" on={customer.path} />
      <Closing kind="customer" of={customer} />
      <ChangeDialog
        schema={CustomerSchema}
        of={changed}
        intro={accountTexts.changeIntro}
        fields={invoiceFields}
        read={readInvoiceFields}
        onClose={() => setChanged(undefined)}
        onChange={({ path, changed: fields, updateMask }) => update.mutateAsync({ path, customer: fields, updateMask })}
      >
        <InvoiceFields of={changed} />
      </ChangeDialog>
    </>
  );
}
