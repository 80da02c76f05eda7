import { Link } from "@tanstack/react-router";
import { nameOf } from "../../calls/paths.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { Section } from "../../ui/page.tsx";
import type { Counted, useManaged } from "./use-managed.ts";

const { managed: words } = scimTexts;

interface ManagedProps {
  /** Such as `/orgs/acme`. */
  readonly org: string;
  /** The name of the source. */
  readonly source: string;
  readonly managed: ReturnType<typeof useManaged>;
}

/** How many members and groups a directory manages, with the way to them. */
export function Managed({ org, source, managed: { members, groups } }: ManagedProps) {
  const params = { org: nameOf(org) };
  return (
    <Section title={words.title}>
      <p className="quiet-text before">{words.rule}</p>
      <ul className="lines">
        {members === undefined ? null : (
          <li>
            <Link to="/orgs/$org/members" params={params} search={{ source }}>
              {words.people(inWords(members), isOne(members))}
            </Link>
          </li>
        )}
        {groups === undefined ? null : (
          <li>
            <Link to="/orgs/$org/groups" params={params} search={{ source }}>
              {words.groups(inWords(groups), isOne(groups))}
            </Link>
          </li>
        )}
      </ul>
    </Section>
  );
}

const inWords = ({ count, isAll }: Counted): string => (isAll ? String(count) : words.moreThan(count));

const isOne = ({ count, isAll }: Counted): boolean => isAll && count === 1;
