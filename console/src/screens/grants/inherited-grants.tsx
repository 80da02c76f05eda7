import { usePermissions } from "../../calls/use-permissions.ts";
import { Section } from "../../ui/page.tsx";
import { GrantList } from "./grant-list.tsx";

interface InheritedGrantsProps {
  readonly title: string;
  /** What is above, such as `/customers/acme`; empty for the platform. */
  readonly from: string;
}

/** What is granted above, and so counts here, for people who may see that. */
export function InheritedGrants({ title, from }: InheritedGrantsProps) {
  const permissions = usePermissions(from, ["iam.roleBindings.list"]);
  if (permissions.may("iam.roleBindings.list") !== true) return null;
  return (
    <Section title={title}>
      <GrantList parentPath={from} />
    </Section>
  );
}
