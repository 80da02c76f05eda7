import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { accountTexts } from "../../texts/account-texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { Section } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";

interface ClosingProps {
  readonly kind: keyof typeof accountTexts.closingOf;
  readonly of: {
    readonly path: string;
    readonly deleteTime?: Timestamp | undefined;
    readonly purgeTime?: Timestamp | undefined;
  };
}

/** What is kept until when after an org or a customer is deleted, and the command that does it. */
export function Closing({ kind, of: { path, deleteTime, purgeTime } }: ClosingProps) {
  const verb = deleteTime === undefined ? "delete" : "undelete";
  return (
    <Section title={accountTexts.closing}>
      {deleteTime === undefined ? null : (
        <Facts>
          <Fact title={accountTexts.closed}>
            <Time at={deleteTime} />
          </Fact>
          <Fact title={accountTexts.purged}>
            <Time at={purgeTime} />
          </Fact>
        </Facts>
      )}
      {accountTexts.closingOf[kind].map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <p>
        {accountTexts.command} <code translate="no">{`tenantry ${verb} ${path.slice(1)}`}</code>
      </p>
    </Section>
  );
}
