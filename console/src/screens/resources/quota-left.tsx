import { useEffect, useRef } from "react";
import type { QuotaBalance } from "../../../../gen/iam/v1alpha/quota_pb.ts";
import { collectionOf, parentOfQuota } from "../../calls/paths.ts";
import { useDisplayNames } from "../../calls/use-display-names.ts";
import { useQuantityKinds } from "../../calls/use-kinds.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { writeAmount } from "../../ui/amount.ts";

/** What people call the levels of quotas, by their collections. */
const levels: Readonly<Record<string, string>> = {
  projects: texts.kinds.project,
  orgs: texts.kinds.org,
  customers: texts.kinds.customer,
};

const isProject = (path: string): boolean => collectionOf(path) === "projects";

/** What a change would leave in the quotas of the project, its org and its customer. */
export function QuotaLeft({ balances }: { readonly balances: readonly QuotaBalance[] }) {
  const kindOf = useQuantityKinds();
  const owners = balances.map(({ quotaPath }) => parentOfQuota(quotaPath));
  const nameOf = useDisplayNames(owners.filter(isProject));
  const { left: words } = resourceTexts;
  const note = useRef<HTMLElement>(null);
  // It is below what the dialog shows.
  useEffect(() => {
    note.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <section ref={note} className="preview whole" role="status" aria-label={words.title}>
      <h3>{words.title}</h3>
      {balances.length === 0 ? (
        <p>{words.nothing}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{words.level}</th>
              <th scope="col">{words.kind}</th>
              <th scope="col" className="numeric">
                {words.left}
              </th>
            </tr>
          </thead>
          <tbody>
            {balances.map(({ quotaPath, kind, left, limit }, index) => {
              const { name, unit } = kindOf(kind);
              const owner = owners[index] ?? "";
              return (
                <tr key={`${quotaPath} ${kind}`}>
                  <td>
                    {levels[collectionOf(owner)]}
                    {isProject(owner) ? (
                      <>
                        {" "}
                        <bdi>{nameOf(owner)}</bdi>
                      </>
                    ) : null}
                  </td>
                  <td>
                    <bdi>{name}</bdi>
                  </td>
                  <td className="numeric">
                    {left === undefined || limit === undefined
                      ? words.noLimit
                      : words.of(writeAmount(left, unit), writeAmount(limit, unit))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
