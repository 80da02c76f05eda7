import { useState } from "react";
import type { ApiKey } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { KeyList } from "./key-list.tsx";
import { NewSecrets } from "./new-secrets.tsx";
import type { TabProps } from "./tab-props.ts";

/** The API keys of a member. The secrets of new ones are shown once. */
export function MemberKeys({ path: member, permissions }: TabProps) {
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<readonly ApiKey[]>([]);
  const add = (key: ApiKey): void => setMade((before) => [...before, key]);
  return (
    <>
      <div className="panel-head">
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.apiKeys.create"
          onClick={() => setCreating(true)}
        >
          {texts.keys.create}
        </GuardedButton>
      </div>
      <NewSecrets apiKeys={made} onDone={() => setMade([])} />
      <KeyList path={member} permissions={permissions} onMade={add} />
      <CreateKeyDialog member={member} open={creating} onClose={() => setCreating(false)} onMade={add} />
    </>
  );
}
