import { useQuery } from "@connectrpc/connect-query";
import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { RoleBindingsService } from "../../../../gen/iam/v1alpha/role_binding_pb.ts";
import { collectionOf, orgOf, parentOf } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { usePermissions } from "../../calls/use-permissions.ts";
import { texts } from "../../texts/texts.ts";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import type { Asked } from "./asked.ts";

interface ChainProps {
  readonly grant: {
    readonly roleBindingPath: string;
    readonly rolePath: string;
    /** The groups from the subject to the one that has the role binding. */
    readonly groupPaths: readonly string[];
  };
  readonly asked: Asked;
  /** The grant does not count: the path ends at it. */
  readonly broken?: boolean;
  readonly children?: ReactNode;
}

interface Step {
  readonly kind: string;
  readonly path: string;
  /** How the step before leads here. */
  readonly by: string;
}

/** The way from somebody to what it may do, drawn: the member, its groups, the role, and where that was granted. */
export function Chain({ grant, asked, broken = false, children }: ChainProps) {
  const { asOf } = useSearch({ from: "/orgs/$org/access" });
  const granted = parentOf(grant.roleBindingPath);
  const steps: readonly Step[] = [
    {
      kind: collectionOf(asked.subject) === "groups" ? texts.kinds.group : texts.kinds.member,
      path: asked.subject,
      by: "",
    },
    ...grant.groupPaths.map((path) => ({ kind: texts.kinds.group, path, by: texts.why.isIn })),
    { kind: texts.kinds.role, path: grant.rolePath, by: texts.why.isGranted },
    { kind: kindOf(granted), path: granted, by: texts.why.grantedOn },
  ];
  const nameOf = useDisplayNames(steps.map(({ path }) => path));
  return (
    <div className={broken ? "chain broken" : "chain"}>
      <ol>
        {steps.map(({ kind, path, by }) => (
          <li key={path}>
            {by === "" ? null : <span className="chain-by">{by}</span>}
            <span className="chain-step">
              <span className="chain-kind">{kind}</span>
              <PathLink path={path} name={path === "" ? texts.platform : nameOf(path)} />
            </span>
          </li>
        ))}
      </ol>
      <p className="quiet-text">
        {texts.why.binding} <code>{grant.roleBindingPath}</code>
        {broken || asOf !== undefined ? null : <End of={grant.roleBindingPath} />}
      </p>
      {children}
    </div>
  );
}

/** When a role binding ends, for people who may read it. One of the past may have ended since. */
function End({ of: path }: { readonly of: string }) {
  const enabled = usePermissions(parentOf(path), ["iam.roleBindings.get"]).may("iam.roleBindings.get") === true;
  const { data } = useQuery(RoleBindingsService.method.getRoleBinding, { path }, { enabled, retry: false });
  if (data?.expireTime === undefined) return null;
  return (
    <>
      {" "}
      {texts.why.until} <Time at={data.expireTime} />
    </>
  );
}

function kindOf(path: string): string {
  if (path === "") return texts.platform;
  if (path === orgOf(path)) return texts.kinds.org;
  return collectionOf(path) === "projects" ? texts.kinds.project : texts.kinds.customer;
}
