import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { AccessSearch } from "../../app/list-search.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissionChoices, useResourceChoices, useSubjectChoices } from "../../calls/use-choices.ts";
import { texts } from "../../texts/texts.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Empty } from "../../ui/notes.tsx";
import { Page } from "../../ui/page.tsx";
import { Picker, type Pick } from "../../ui/picker.tsx";
import { AsOfForm } from "./as-of-form.tsx";
import { Explanation } from "./explanation.tsx";
import { type Answers, useAnswers } from "./use-answers.ts";
import { WhatMay } from "./what-may.tsx";
import { WhoMay } from "./who-may.tsx";

/**
 * What may somebody do, and why, and why not. Three fields, of which the URL holds what is chosen: with a subject, it explains; without one,
 * it says who may; with a subject and without a resource, it says where. All of it now, or as of a moment that the URL holds.
 */
export function WhyScreen() {
  const { org: name } = useParams({ from: "/orgs/$org/access" });
  const search = useSearch({ from: "/orgs/$org/access" });
  const org = `/orgs/${name}`;
  const answers = useAnswers(org, search);
  return (
    <Page
      title={texts.why.title}
      intro={texts.why.intro}
      actions={<CopyButton text={location.href} label={texts.why.copyLink} />}
    >
      <Question org={org} />
      <AsOfForm org={org} problem={answers.problem} />
      {answers.problem === undefined ? <Answer search={search} answers={answers} /> : null}
    </Page>
  );
}

interface AnswerProps {
  readonly search: AccessSearch;
  readonly answers: Answers;
}

function Answer({ search: { subject, permission, resource }, answers }: AnswerProps) {
  if (permission !== undefined && resource !== undefined) {
    return (
      <>
        {subject === undefined ? null : (
          <Explanation of={answers.explained} asked={{ subject, permission, resource }} />
        )}
        <WhoMay of={answers.subjects} permission={permission} resource={resource} />
      </>
    );
  }
  if (permission !== undefined && subject !== undefined) {
    return <WhatMay of={answers.resources} subject={subject} permission={permission} />;
  }
  return <Empty title={texts.why.first} />;
}

/** The three fields. */
function Question({ org }: { readonly org: string }) {
  const { subject, permission, resource, asOf } = useSearch({ from: "/orgs/$org/access" });
  // What there was then may be gone, so its path can be typed.
  const free = asOf !== undefined;
  const navigate = useNavigate({ from: "/orgs/$org/access" });
  const nameOf = useDisplayNames([subject, resource].filter((path) => path !== undefined));
  const toPick = (path: string | undefined): Pick | undefined =>
    path === undefined ? undefined : { value: path, label: path === org ? texts.why.wholeOrg : nameOf(path) };
  const set = (name: "subject" | "permission" | "resource") => (pick: Pick | undefined) =>
    void navigate({ search: (before) => ({ ...before, [name]: pick?.value, page: undefined }) });
  const useSubjects = useCallback((words: string, open: boolean) => useSubjectChoices(org, words, open), [org]);
  const usePermissions = useCallback((words: string, open: boolean) => usePermissionChoices(org, words, open), [org]);
  const useResources = useCallback((words: string, open: boolean) => useResourceChoices(org, words, open), [org]);
  const [who, where] = [toPick(subject), toPick(resource)];
  const what = permission === undefined ? undefined : { value: permission, label: permission };
  return (
    <div className="question" role="group" aria-label={texts.why.title}>
      <Picker
        key={`who ${who?.label ?? ""}`}
        label={texts.why.subject}
        hint={texts.why.subjectHint}
        value={who}
        useChoices={useSubjects}
        onPick={set("subject")}
        free={free}
      />
      <Picker
        key={`what ${what?.label ?? ""}`}
        label={texts.why.permission}
        value={what}
        useChoices={usePermissions}
        onPick={set("permission")}
        free
      />
      <Picker
        key={`where ${where?.label ?? ""}`}
        label={texts.why.resource}
        hint={texts.why.resourceHint}
        value={where}
        useChoices={useResources}
        onPick={set("resource")}
        free={free}
      />
    </div>
  );
}
