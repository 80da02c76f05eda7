import type { AccessRequest } from "../../../../gen/iam/v1alpha/access_request_pb.ts";
import { accessRequestTexts } from "../../texts/access-request-texts.ts";

/** How many of several approvals there are, and that the access began without one. */
export function Progress({ request }: { readonly request: AccessRequest }) {
  const { breakGlass, requiredApprovals, firstApproval } = request;
  return (
    <>
      {breakGlass ? (
        <>
          {" "}
          <span className="badge suspended">{accessRequestTexts.emergency}</span>
        </>
      ) : null}
      {requiredApprovals < 2 ? null : (
        <span className="quiet-text">
          {" "}
          {accessRequestTexts.approvals(firstApproval === undefined ? 0 : 1, requiredApprovals)}
        </span>
      )}
    </>
  );
}
