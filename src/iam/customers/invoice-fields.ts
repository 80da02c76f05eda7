// What invoices name, which orgs and customers have.

interface InvoiceFields {
  readonly legalName: string;
  readonly billingReference: string;
}

interface InvoiceColumns {
  readonly legal_name: string | null;
  readonly billing_reference: string | null;
}

export const invoiceFields = (row: InvoiceColumns): InvoiceFields => ({
  legalName: row.legal_name ?? "",
  billingReference: row.billing_reference ?? "",
});

export const invoiceColumns = ({ legalName = "", billingReference = "" }: Partial<InvoiceFields>): InvoiceColumns => ({
  legal_name: legalName === "" ? null : legalName,
  billing_reference: billingReference === "" ? null : billingReference,
});
