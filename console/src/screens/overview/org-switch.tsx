import type { MessageInitShape } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Org, type OrgSchema, OrgsService } from "../../../../gen/iam/v1alpha/org_pb.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Said } from "../../ui/said.tsx";

const updateOrg = "iam.orgs.update";

/** What a button changes in an org, and how it is called. */
interface OrgChange {
  readonly action: string;
  readonly intro: string;
  readonly done: string;
  readonly fields: MessageInitShape<typeof OrgSchema>;
  /** The names of the fields. */
  readonly paths: readonly string[];
}

interface OrgSwitchProps {
  readonly org: Org;
  /** Returns what is changed in the org as it is. */
  readonly changeOf: (org: Org) => OrgChange;
}

/** A button that changes one thing in an org, once that has been confirmed. */
export function OrgSwitch({ org: current, changeOf }: OrgSwitchProps) {
  // The org as it was when the question was asked.
  const [asked, setAsked] = useState<Org>();
  const permissions = usePermissions(current.path, [updateOrg]);
  const update = useMutation(OrgsService.method.updateOrg);
  const { path, etag, name, displayName } = asked ?? current;
  const { action, intro, done, fields, paths } = changeOf(asked ?? current);
  return (
    <>
      <GuardedButton permissions={permissions} permission={updateOrg} onClick={() => setAsked(current)}>
        {action}
      </GuardedButton>
      <FormDialog
        title={action}
        intro={intro}
        submit={action}
        done={<Said what={done} name={displayName || name} />}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onSubmit={() => update.mutateAsync({ path, org: { ...fields, etag }, updateMask: { paths: [...paths] } })}
      />
    </>
  );
}
