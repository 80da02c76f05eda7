import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { AccessService } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { FoundPaths } from "./found-paths.tsx";

interface WhatMayProps {
  readonly subject: string;
  readonly permission: string;
  readonly org: string;
}

/** The projects on which somebody holds a permission. */
export function WhatMay({ subject, permission, org }: WhatMayProps) {
  const { page = "" } = useSearch({ from: "/orgs/$org/access" });
  const request = { subjectPath: subject, permission, parentPath: org, pageSize: 100, pageToken: page };
  const resources = useQuery(AccessService.method.listResources, request, {
    retry: false,
    placeholderData: keepPreviousData,
  });
  return (
    <Section title={texts.why.where}>
      <Answered of={resources}>
        {({ resourcePaths, nextPageToken }) => (
          <FoundPaths
            title={texts.why.where}
            kind={texts.kinds.project}
            none={texts.why.nowhere}
            paths={resourcePaths}
            nextPage={nextPageToken}
            ask={(resource) => ({ subject, permission, resource })}
          />
        )}
      </Answered>
    </Section>
  );
}
