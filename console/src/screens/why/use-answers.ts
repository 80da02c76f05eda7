import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useMemo } from "react";
import { AccessService } from "../../../../gen/iam/v1alpha/access_pb.ts";
import type { AccessSearch } from "../../app/list-search.ts";
import { asOfNames, momentProblem, readMoment } from "../../calls/moment.ts";

const { explainAccess, listSubjects, listResources } = AccessService.method;

const pageSize = 100;
const paged = { retry: false, placeholderData: keepPreviousData };

/** Asks what a question is about: why somebody may do something, who else may, or where it may. */
export function useAnswers(org: string, { subject, permission, resource, page = "", asOf }: AccessSearch) {
  const [who, what, where] = [subject ?? "", permission ?? "", resource ?? ""];
  const { time, revision } = readMoment(asOf);
  const moment = { ...(time && { asOfTime: time }), ...(revision !== undefined && { asOfRevision: revision }) };
  const explained = useQuery(
    explainAccess,
    { subjectPath: who, permission: what, resourcePath: where, ...moment },
    { enabled: who !== "" && what !== "" && where !== "", retry: false },
  );
  const subjects = useQuery(
    listSubjects,
    { permission: what, resourcePath: where, pageSize, pageToken: page, ...moment },
    { ...paged, enabled: what !== "" && where !== "" },
  );
  const resources = useQuery(
    listResources,
    { subjectPath: who, permission: what, parentPath: org, pageSize, pageToken: page, ...moment },
    { ...paged, enabled: who !== "" && what !== "" && where === "" },
  );
  const error = [explained, subjects, resources].map((each) => each.error).find((each) => each !== null);
  // The form shows it again when it gets another object.
  const problem = useMemo(
    () => (asOf === undefined || error === undefined ? undefined : momentProblem(error, asOf, asOfNames)),
    [error, asOf],
  );
  return { explained, subjects, resources, problem };
}

export type Answers = ReturnType<typeof useAnswers>;
