import { useDisplayNames } from "../../calls/use-display-names.ts";
import { texts } from "../../texts/texts.ts";
import { Answered, Empty } from "../../ui/notes.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { type Belonging, useGroupsOf } from "./use-groups-of.ts";

/** The groups of a member, with how it comes to be in each. */
export function MemberGroups({ path }: { readonly path: string }) {
  const groups = useGroupsOf(path);
  return (
    <Answered of={groups}>
      {(rows) => (rows.length === 0 ? <Empty title={texts.member.noGroups} /> : <Groups rows={rows} />)}
    </Answered>
  );
}

function Groups({ rows }: { readonly rows: readonly Belonging[] }) {
  const nameOf = useDisplayNames(rows.map(({ groupPath }) => groupPath));
  return (
    <ul className="lines">
      {rows.map(({ groupPath, through }) => (
        <li key={groupPath}>
          <PathLink path={groupPath} name={nameOf(groupPath)} />
          <span className="quiet-text">
            {through.length === 0 ? texts.member.direct : `${texts.member.through} ${through.map(nameOf).join(" → ")}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
