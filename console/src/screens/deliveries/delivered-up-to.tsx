import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChangesService, Change_View } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { Time } from "../../ui/time.tsx";

interface DeliveredUpToProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  readonly revision: string;
  /** Whether the person may read the log. */
  readonly mayRead: boolean;
}

/** Leads to the change up to which something has delivered. It is shown by its time, if the log still has it. */
export function DeliveredUpTo({ org, revision, mayRead }: DeliveredUpToProps) {
  const filter = `revision = ${JSON.stringify(revision)}`;
  const request = { parentPath: org, pageSize: 1, view: Change_View.BASIC, filter };
  const options = { enabled: mayRead, retry: false, placeholderData: keepPreviousData };
  const { data } = useQuery(ChangesService.method.listChanges, request, options);
  const [change] = data?.changes ?? [];
  if (change === undefined) return <code>{revision}</code>;
  return (
    <Link to="/orgs/$org/changes" params={{ org: nameOf(org) }} search={{ revision: change.revision }} title={revision}>
      <Time at={change.time} />
    </Link>
  );
}
