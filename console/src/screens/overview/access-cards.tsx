import { Link } from "@tanstack/react-router";
import type { AccessRequest } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { nameOf } from "../../calls/paths.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";
import { PathLinks } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { AnswerButtons, useAnswers } from "../access-requests/answers.tsx";

/** Requests for access, with what decides them. */
export function AccessCards({ requests }: { readonly requests: readonly AccessRequest[] }) {
  const { answer, dialogs } = useAnswers();
  return (
    <>
      <ul className="cards">
        {requests.map((request) => (
          <li key={request.id} className="card">
            <span>
              <PathLinks paths={[request.memberPath]} /> {accessRequestTexts.wants}{" "}
              <strong>
                <PathLinks paths={[request.rolePath]} />
              </strong>{" "}
              {accessRequestTexts.on} <PathLinks paths={[request.resourcePath]} /> {accessRequestTexts.untilWhen}{" "}
              <Time at={request.expireTime} />
            </span>
            <span className="quiet-text">
              <bdi>{request.reason}</bdi>
            </span>
            <span className="actions">
              <Link
                to={request.path}
                aria-label={accessRequestTexts.detailsOf(nameOf(request.rolePath), nameOf(request.memberPath))}
              >
                {accessRequestTexts.details}
              </Link>
              <AnswerButtons request={request} answer={answer} />
            </span>
          </li>
        ))}
      </ul>
      {dialogs}
    </>
  );
}
