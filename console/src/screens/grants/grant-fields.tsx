import { useQuery } from "@connectrpc/connect-query";
import { useCallback, useState } from "react";
import { OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { ofCustomer, toPick, useOrgChoices, useRoleChoices, useSubjectChoices } from "../../calls/use-choices.ts";
import { texts } from "../../texts/texts.ts";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { UntilField } from "../../ui/until-field.tsx";
import { RoleContents } from "../roles/role-contents.tsx";
import { ConditionField } from "./condition/condition-field.tsx";

export interface GrantFieldsProps {
  /** Where the role is granted: an org, a project, a customer or a service; empty for the platform. */
  readonly on: string;
  /** Whose members and groups can get it: an org, or a customer, which has several orgs. */
  readonly subjectsOf: string;
}

/** The fields for a new grant. */
export function GrantFields({ on, subjectsOf }: GrantFieldsProps) {
  const [role, setRole] = useState<Pick>();
  // Roles of an org can be granted only there and below.
  const useRoles = useCallback((words: string, open: boolean) => useRoleChoices(orgOf(on), words, open), [on]);
  return (
    <>
      {orgOf(subjectsOf) === "" ? <SubjectOfCustomer customer={subjectsOf} /> : <SubjectField org={subjectsOf} />}
      <Picker name="role_path" label={texts.columns.role} value={role} useChoices={useRoles} onPick={setRole} />
      <RoleContents path={role?.value} />
      <UntilField hint={texts.grants.untilHint} />
      <ConditionField on={on} />
      <TextField name="name" label={texts.fields.name} hint={texts.grants.nameHint} />
    </>
  );
}

/** Asks for an org of a customer first, unless there is only one. */
function SubjectOfCustomer({ customer }: { readonly customer: string }) {
  const few = useQuery(OrgsService.method.listOrgs, { filter: ofCustomer(customer), pageSize: 2 }, { retry: false });
  const [first, ...others] = few.data?.orgs ?? [];
  const only = first === undefined || others.length > 0 ? undefined : toPick(first);
  return few.isPending ? null : <SubjectOfOrgs customer={customer} firstOnly={only} />;
}

interface SubjectOfOrgsProps {
  readonly customer: string;
  /** The only org there is. What was chosen stays if there is another one later. */
  readonly firstOnly: Pick | undefined;
}

function SubjectOfOrgs({ customer, firstOnly }: SubjectOfOrgsProps) {
  const [picked, setPicked] = useState<Pick>();
  const [only] = useState(firstOnly);
  const useOrgs = useCallback((words: string, open: boolean) => useOrgChoices(customer, words, open), [customer]);
  const org = picked ?? only;
  return (
    <>
      {only === undefined ? (
        <Picker label={texts.kinds.org} value={picked} useChoices={useOrgs} onPick={setPicked} />
      ) : null}
      <SubjectField key={org?.value} org={org?.value ?? ""} />
    </>
  );
}

/** @param org empty until it is chosen. */
function SubjectField({ org }: { readonly org: string }) {
  const [subject, setSubject] = useState<Pick>();
  const useSubjects = useCallback((words: string, open: boolean) => useSubjectChoices(org, words, open), [org]);
  return (
    <Picker
      name="subject_path"
      label={texts.grants.to}
      hint={org === "" ? texts.grants.toHintOfCustomer : texts.grants.toHint}
      value={subject}
      useChoices={useSubjects}
      onPick={setSubject}
    />
  );
}
