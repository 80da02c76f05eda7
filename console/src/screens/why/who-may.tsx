import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { AccessService } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { FoundPaths } from "./found-paths.tsx";

/** Everybody who holds a permission on a resource. */
export function WhoMay({ permission, resource }: { readonly permission: string; readonly resource: string }) {
  const { page = "" } = useSearch({ from: "/orgs/$org/access" });
  const request = { permission, resourcePath: resource, pageSize: 100, pageToken: page };
  const subjects = useQuery(AccessService.method.listSubjects, request, {
    retry: false,
    placeholderData: keepPreviousData,
  });
  return (
    <Section title={texts.why.who}>
      <Answered of={subjects}>
        {({ subjectPaths, nextPageToken }) => (
          <FoundPaths
            title={texts.why.who}
            kind={texts.kinds.member}
            none={texts.why.nobody}
            paths={subjectPaths}
            nextPage={nextPageToken}
            ask={(subject) => ({ subject, permission, resource })}
          />
        )}
      </Answered>
    </Section>
  );
}
