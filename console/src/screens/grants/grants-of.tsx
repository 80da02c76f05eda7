import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCreating } from "../../app/use-creating.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Empty } from "../../ui/notes.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { GrantDialog } from "./grant-dialog.tsx";
import { GrantList } from "./grant-list.tsx";
import { InheritedGrants } from "./inherited-grants.tsx";

/** What is above, from which roles are inherited. */
export interface Above {
  readonly title: string;
  /** Its path; empty for the platform. */
  readonly from: string;
}

export const fromPlatform: Above = { title: texts.grants.fromPlatform, from: "" };

/** What a screen puts into its own places. */
interface Parts {
  /** Grants one more. */
  readonly button: ReactNode;
  readonly search: ReactNode;
  readonly list: ReactNode;
}

interface GrantsOfProps {
  /** Where the roles are granted: an org, a project, a customer or a service; empty for the platform. */
  readonly on: string;
  /** Whose members and groups can get a role: an org, or a customer, which has several orgs. */
  readonly subjectsOf: string;
  readonly above: readonly Above[];
  readonly frame: (parts: Parts) => ReactNode;
}

/** Who has which role somewhere, granted there or above, as the words and the page in the URL say. */
export function GrantsOf({ on, subjectsOf, above, frame }: GrantsOfProps) {
  const { q, page = "" } = useSearch({ strict: false });
  const permissions = usePermissions(on, [
    "iam.roleBindings.list",
    "iam.roleBindings.create",
    "iam.roleBindings.delete",
  ]);
  const [granting, setGranting] = useCreating(permissions, "iam.roleBindings.create");
  // What is refused is in a log, so nothing is asked before this is known.
  const mayList = permissions.may("iam.roleBindings.list");
  const button = (
    <GuardedButton
      kind="primary"
      permissions={permissions}
      permission="iam.roleBindings.create"
      onClick={() => setGranting(true)}
    >
      {texts.grants.create}
    </GuardedButton>
  );
  const list =
    mayList === true ? (
      <GrantList parentPath={on} words={q} page={page} permissions={permissions} />
    ) : mayList === false ? (
      <Empty title={texts.grants.hidden} />
    ) : null;
  return (
    <>
      {frame({ button, search: <SearchBox label={texts.grants.search} value={q ?? ""} />, list })}
      {above.map(({ title, from }) => (
        <InheritedGrants key={from} title={title} from={from} />
      ))}
      <GrantDialog on={on} subjectsOf={subjectsOf} open={granting} onClose={() => setGranting(false)} />
    </>
  );
}
