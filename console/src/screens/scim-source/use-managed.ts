import { useQuery } from "@connectrpc/connect-query";
import { GroupsService } from "../../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../../gen/iam/v1alpha/member_pb.ts";
import { managedBy } from "../../app/list-search.ts";

/** How many of something there are, as far as they were counted. */
export interface Counted {
  readonly count: number;
  readonly isAll: boolean;
}

/** The service does not count what a filter selects, so that a page is read and counted. */
const pageSize = 1_000;

const countOf = (rows: readonly unknown[], nextPageToken: string): Counted => ({
  count: rows.length,
  isAll: nextPageToken === "",
});

/** Counts what a SCIM source manages. Undefined until it is known, and for people who may not see it. */
export function useManaged(org: string, source: string) {
  const request = { parentPath: org, pageSize, filter: managedBy(source) ?? "" };
  const members = useQuery(MembersService.method.listMembers, request, { retry: false }).data;
  const groups = useQuery(GroupsService.method.listGroups, request, { retry: false }).data;
  return {
    members: members && countOf(members.members, members.nextPageToken),
    groups: groups && countOf(groups.groups, groups.nextPageToken),
  };
}
