import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState, type ReactNode } from "react";
import { AccessService } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { MembersService, Member_State } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import type { ScimSource } from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { type Permissions, usePermissions } from "../../calls/use-permissions.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Section } from "../../ui/page.tsx";
import { Said } from "../../ui/said.tsx";
import { provisionerGrant, provisionPermission } from "../scim-sources/provisioner.ts";

const { setUp: words } = scimTexts;

const permissionsOfSetUp = ["iam.access.check", "iam.roleBindings.create"];

interface SetUpProps {
  readonly source: ScimSource;
  /** Whether the directory has created anybody; undefined where that is not known. */
  readonly hasPeople: boolean | undefined;
}

/** What is done and what is missing until a directory manages people. Nothing when all is done, and for people who may not see it. */
export function SetUp({ source, hasPeople }: SetUpProps) {
  const permissions = usePermissions(orgOf(source.path), permissionsOfSetUp);
  const { isActive, holdsRole, hasKey } = useSteps(source, permissions);
  const steps = [isActive, holdsRole, hasKey, hasPeople];
  if (steps.includes(undefined) || steps.every(Boolean)) return null;
  return (
    <Section title={words.title}>
      <ol className="steps">
        <Step title={words.application} isDone={isActive}>
          {source.memberPath === "" ? <span className="quiet-text">{words.chooseOne}</span> : null}
        </Step>
        <Step title={words.role} isDone={holdsRole}>
          {isActive === true ? <GrantButton member={source.memberPath} permissions={permissions} /> : null}
        </Step>
        <Step title={words.key} isDone={hasKey} />
        <Step title={words.people} isDone={hasPeople}>
          {hasKey === true ? <span className="quiet-text">{words.peopleHint}</span> : null}
        </Step>
      </ol>
    </Section>
  );
}

/** Asks for each step whether it is done. */
function useSteps({ path, memberPath }: ScimSource, permissions: Permissions) {
  const enabled = memberPath !== "";
  const mayCheck = permissions.may("iam.access.check") === true;
  const member = useQuery(MembersService.method.getMember, { path: memberPath }, { enabled, retry: false }).data;
  const access = useQuery(
    AccessService.method.checkAccess,
    { subjectPath: memberPath, permission: provisionPermission, resourcePath: orgOf(path) },
    { enabled: enabled && mayCheck, retry: false },
  ).data;
  const keys = useQuery(
    ApiKeysService.method.listApiKeys,
    { parentPath: memberPath, pageSize: 1_000 },
    { enabled, retry: false },
  ).data;
  if (!enabled) return { isActive: false, holdsRole: false, hasKey: false };
  return {
    isActive: member && member.state === Member_State.ACTIVE,
    holdsRole: access?.allowed,
    hasKey: keys?.apiKeys.some(isLive),
  };
}

const isLive = ({ expireTime }: ApiKey): boolean => expireTime === undefined || timestampMs(expireTime) > Date.now();

interface StepProps {
  readonly title: string;
  readonly isDone: boolean | undefined;
  /** What to do where it is not done. */
  readonly children?: ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li>
      {title}{" "}
      {isDone === true ? (
        <span className="quiet-text">
          <span aria-hidden="true">✓</span> {words.done}
        </span>
      ) : (
        children
      )}
    </li>
  );
}

interface GrantButtonProps {
  readonly member: string;
  readonly permissions: Permissions;
}

/** Grants the application of a directory what it needs. */
function GrantButton({ member, permissions }: GrantButtonProps) {
  const [asking, setAsking] = useState(false);
  const grant = useMutation(RoleBindingsService.method.createRoleBinding);
  return (
    <>
      <GuardedButton permissions={permissions} permission="iam.roleBindings.create" onClick={() => setAsking(true)}>
        {words.grant}
      </GuardedButton>
      <FormDialog
        title={words.grant}
        intro={words.grantIntro}
        submit={words.grant}
        done={<Said what={words.granted} name={nameOf(member)} />}
        open={asking}
        onClose={() => setAsking(false)}
        onSubmit={() => grant.mutateAsync({ parentPath: orgOf(member), roleBinding: provisionerGrant(member) })}
      />
    </>
  );
}
