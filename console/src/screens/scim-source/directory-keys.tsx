import { useState } from "react";
import type { ApiKey } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { useCreating } from "../../app/use-creating.ts";
import { orgOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Section } from "../../ui/page.tsx";
import { SecretsNote } from "../../ui/secrets-note.tsx";
import { KeyList } from "../member/key-list.tsx";
import { CreateDirectoryKeyDialog } from "./create-directory-key-dialog.tsx";
import { SourceUrl } from "./source-url.tsx";

const { keys: words } = scimTexts;

const permissionsOfKeys = ["iam.apiKeys.create", "iam.apiKeys.rotate", "iam.apiKeys.delete"];

/** The keys with which a directory calls SCIM. The secrets of new ones are shown once, with what else the directory needs. */
export function DirectoryKeys({ member }: { readonly member: string }) {
  const permissions = usePermissions(member, permissionsOfKeys);
  const [creating, setCreating] = useCreating(permissions, "iam.apiKeys.create");
  const [made, setMade] = useState<readonly ApiKey[]>([]);
  const add = (key: ApiKey): void => setMade((before) => [...before, key]);
  return (
    <Section
      title={words.title}
      actions={
        <GuardedButton
          kind="primary"
          permissions={permissions}
          permission="iam.apiKeys.create"
          onClick={() => setCreating(true)}
        >
          {words.create}
        </GuardedButton>
      }
    >
      <p className="quiet-text before">{words.intro}</p>
      <SecretsNote title={words.secretTitle} intro={words.secretOnce} secrets={made} onDone={() => setMade([])}>
        <Facts>
          <Fact title={scimTexts.url}>
            <SourceUrl org={orgOf(member)} />
          </Fact>
        </Facts>
        <p>{words.secretNext}</p>
      </SecretsNote>
      <KeyList path={member} permissions={permissions} onMade={add} />
      <CreateDirectoryKeyDialog member={member} open={creating} onClose={() => setCreating(false)} onMade={add} />
    </Section>
  );
}
