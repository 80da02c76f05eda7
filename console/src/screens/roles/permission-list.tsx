import { texts } from "../../texts/texts.ts";
import { Empty } from "../../ui/notes.tsx";
import { groupPermissions, isWildcard, verbOf } from "./permission-groups.ts";

/** The permissions of a role, by collection, after its wildcards. */
export function PermissionList({ permissions }: { readonly permissions: readonly string[] }) {
  if (permissions.length === 0) return <Empty title={texts.roles.noPermissions} />;
  return (
    <dl className="facts permissions">
      {permissions.filter(isWildcard).map((name) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{texts.roles.wildcards[name]}</dd>
        </div>
      ))}
      {groupPermissions(permissions).map((group) => (
        <div key={group.collection}>
          <dt>
            <code>{group.collection}</code>
          </dt>
          <dd>
            <code>{group.permissions.map(verbOf).join(" ")}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
