import { useQuery } from "@connectrpc/connect-query";
import { ChangesService } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { ChangeTable } from "../changes/change-table.tsx";

/** More than a request can have. */
const pageSize = 20;

/** What the log says of a request, for people who may read it. */
export function RequestHistory({ path }: { readonly path: string }) {
  const org = orgOf(path);
  // What is refused is in the security log of the org.
  const enabled = usePermissions(org, ["iam.changes.list"]).may("iam.changes.list") === true;
  const request = { parentPath: org, pageSize, filter: `resource_path = ${JSON.stringify(path)}` };
  const changes = useQuery(ChangesService.method.listChanges, request, { enabled, retry: false });
  if (!enabled) return null;
  return (
    <Section title={accessRequestTexts.history}>
      <Answered of={changes}>{(data) => <ChangeTable org={org} rows={data.changes} />}</Answered>
    </Section>
  );
}
