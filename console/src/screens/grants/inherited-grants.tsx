import { Link } from "@tanstack/react-router";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { Section } from "../../ui/page.tsx";
import { GrantList } from "./grant-list.tsx";

interface InheritedGrantsProps {
  readonly title: string;
  /** What is above, such as `/customers/acme`; empty for the platform. */
  readonly from: string;
}

/** What is granted above, and so counts here, for people who may see that: the first of it, and the way to all. */
export function InheritedGrants({ title, from }: InheritedGrantsProps) {
  const permissions = usePermissions(from, ["iam.roleBindings.list"]);
  if (permissions.may("iam.roleBindings.list") !== true) return null;
  return (
    <Section title={title}>
      <GrantList
        parentPath={from}
        more={
          <p>
            {texts.grants.more} <AllGrants of={from} />
          </p>
        }
      />
    </Section>
  );
}

/** Leads to the screen that searches and pages what is granted on something. */
function AllGrants({ of }: { readonly of: string }) {
  if (of === "") {
    return (
      <Link to="/platform" search={{ tab: "access" }}>
        {texts.grants.all}
      </Link>
    );
  }
  return of === orgOf(of) ? (
    <Link to="/orgs/$org/roleBindings" params={{ org: nameOf(of) }}>
      {texts.grants.all}
    </Link>
  ) : (
    <Link to="/customers/$customer" params={{ customer: nameOf(of) }} search={{ tab: "access" }}>
      {texts.grants.all}
    </Link>
  );
}
