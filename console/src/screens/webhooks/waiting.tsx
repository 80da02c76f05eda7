import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { ChangesService, Change_View } from "../../../../gen/iam/v1alpha/change_pb.ts";
import {
  type ListWebhookDeliveriesResponse,
  type Webhook,
  WebhookDelivery_State,
} from "../../../../gen/iam/v1alpha/webhook_pb.ts";
import { deliveryTexts } from "../../texts/delivery-texts.ts";
import { Time } from "../../ui/time.tsx";

/** So many changes are counted. */
const most = 100;

interface WaitingProps {
  readonly webhook: Webhook;
  /** The org whose log it is about. */
  readonly log: string;
  readonly sent: ListWebhookDeliveriesResponse;
  /** Whether the person may read the log. */
  readonly mayRead: boolean;
}

/** What a webhook is behind: the changes that its filter matches, after the revision up to which it has delivered. */
export function Waiting({ webhook, log, sent, mayRead }: WaitingProps) {
  const after = `revision > ${JSON.stringify(sent.deliveredRevision)}`;
  const filter = webhook.filter === "" ? after : `(${webhook.filter}) AND ${after}`;
  const request = {
    parentPath: log,
    pageSize: most,
    orderBy: "time",
    view: Change_View.BASIC,
    filter,
  };
  const options = { enabled: mayRead, retry: false, placeholderData: keepPreviousData };
  const { data } = useQuery(ChangesService.method.listChanges, request, options);
  if (!mayRead) return <span className="quiet-text">{deliveryTexts.mayNotSee}</span>;
  if (data === undefined) return null;
  const [first] = data.changes;
  if (first !== undefined) {
    return (
      <>
        {deliveryTexts.waiting(data.changes.length, data.nextPageToken !== "")}{" "}
        <span className="quiet-text wide">
          {deliveryTexts.since} <Time at={first.time} />
        </span>
      </>
    );
  }
  // What fails may be of that revision itself.
  const fails = sent.deliveries.some(({ state }) => state === WebhookDelivery_State.FAILED);
  return fails ? deliveryTexts.failing : deliveryTexts.upToDate;
}
