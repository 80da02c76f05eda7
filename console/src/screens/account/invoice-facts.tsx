import type { ReactNode } from "react";
import { accountTexts } from "../../texts/account-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { TextField, valueOf } from "../../ui/text-field.tsx";

interface Invoiced {
  readonly legalName: string;
  readonly billingReference: string;
}

/** What invoices name of an org or a customer. */
export function InvoiceFacts({ of, children }: { readonly of: Invoiced; readonly children?: ReactNode }) {
  return (
    <Facts>
      <Fact title={accountTexts.legalName}>
        <Given text={of.legalName} />
      </Fact>
      <Fact title={accountTexts.billingReference}>
        <Given text={of.billingReference} />
      </Fact>
      {children}
    </Facts>
  );
}

function Given({ text }: { readonly text: string }) {
  return text === "" ? <span className="quiet-text">{texts.none}</span> : <bdi>{text}</bdi>;
}

/** The names of the fields that `InvoiceFields` shows, as in the API. */
export const invoiceFields = ["legal_name", "billing_reference"] as const;

export const readInvoiceFields = (form: FormData): Invoiced => ({
  legalName: valueOf(form, "legal_name"),
  billingReference: valueOf(form, "billing_reference"),
});

export function InvoiceFields({ of }: { readonly of: Invoiced | undefined }) {
  return (
    <>
      <TextField
        name="legal_name"
        label={accountTexts.legalName}
        hint={accountTexts.legalNameHint}
        defaultValue={of?.legalName ?? ""}
      />
      <TextField
        name="billing_reference"
        label={accountTexts.billingReference}
        hint={accountTexts.billingReferenceHint}
        defaultValue={of?.billingReference ?? ""}
      />
    </>
  );
}
