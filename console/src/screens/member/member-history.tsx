import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { ChangesService } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { nameOf, orgOf } from "../../calls/paths.ts";
import { memberTexts } from "../../texts/member-texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";
import { Answered, Empty } from "../../ui/notes.tsx";
import { ChangeTable } from "../changes/change-table.tsx";
import type { TabProps } from "./tab-props.ts";

/** What the service requires to read the log that has the history of a member. */
export const historyPermission = "iam.changes.list";

/** The latest changes of a member and of what is in it, such as its keys, with the way to all, and to what it has changed itself. */
export function MemberHistory({ path, permissions }: TabProps) {
  const org = orgOf(path);
  const may = permissions.may(historyPermission);
  const request = { parentPath: org, pageSize: 20, filter: `resource_path:${JSON.stringify(path)}` };
  const changes = useQuery(ChangesService.method.listChanges, request, { enabled: may === true, retry: false });
  if (may === false) {
    return (
      <GuardedButton
        permissions={{ ...permissions, resourcePath: org }}
        permission={historyPermission}
        onClick={() => {}}
      >
        {memberTexts.showHistory}
      </GuardedButton>
    );
  }
  const params = { org: nameOf(org) };
  return (
    <>
      <div className="panel-head">
        <Link to="/orgs/$org/changes" params={params} search={{ q: path }}>
          {memberTexts.allChanges}
        </Link>
        <Link to="/orgs/$org/changes" params={params} search={{ q: `by ${path}` }}>
          {memberTexts.changedByIt}
        </Link>
      </div>
      <Answered of={changes}>
        {({ changes: rows }) =>
          rows.length === 0 ? <Empty title={memberTexts.noHistory} /> : <ChangeTable org={org} rows={rows} />
        }
      </Answered>
    </>
  );
}
