import type { QuotaRequest } from "../../../../gen/iam/v1alpha/quota_request_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";
import { DecideButtons, useDecisions } from "../quota-requests/decide-buttons.tsx";
import { LimitsInWords } from "../quota-requests/limits-in-words.tsx";
import { QuotaHolder } from "../quota-requests/quota-holder.tsx";
import { useDeciding } from "../quota-requests/use-deciding.ts";

/** Requests for more quota, with what decides them. */
export function RequestCards({ requests }: { readonly requests: readonly QuotaRequest[] }) {
  const { decide, dialogs } = useDecisions();
  return (
    <>
      <ul className="cards">
        {requests.map((waiting) => (
          <li key={waiting.id} className="card">
            <Waiting request={waiting} decide={decide} />
          </li>
        ))}
      </ul>
      {dialogs}
    </>
  );
}

interface WaitingProps extends Pick<ReturnType<typeof useDecisions>, "decide"> {
  readonly request: QuotaRequest;
}

function Waiting({ request, decide }: WaitingProps) {
  const { path, name, displayName, description, memberPath, quotaPath, limits } = request;
  const deciding = useDeciding(orgOf(path));
  return (
    <>
      <strong>
        <PathLink path={path} name={displayName || name} />
      </strong>
      <span>
        <PathLinks paths={[memberPath]} /> {texts.requests.asks} <LimitsInWords limits={limits} />{" "}
        <span className="quiet-text">{texts.why.grantedOn}</span> <QuotaHolder quotaPath={quotaPath} />
      </span>
      {description === "" ? null : (
        <span className="quiet-text">
          <bdi>{description}</bdi>
        </span>
      )}
      <span className="actions">
        <DecideButtons request={request} deciding={deciding} decide={decide} />
      </span>
    </>
  );
}
