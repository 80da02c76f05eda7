import { useQuery } from "@connectrpc/connect-query";
import { MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { PathLink } from "../../ui/path-link.tsx";

/** The member for which something delivers, of which only the ids are known: it may be of another org, or gone. */
export function DeliversFor({ memberPath }: { readonly memberPath: string }) {
  const may = usePermissions(memberPath, ["iam.members.get"]).may("iam.members.get") === true;
  const { data } = useQuery(MembersService.method.getMember, { path: memberPath }, { enabled: may, retry: false });
  if (data === undefined) return <code>{nameOf(memberPath)}</code>;
  return <PathLink path={data.path} name={data.displayName || data.name} />;
}
