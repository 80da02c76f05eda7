import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ImpliedRemoval, RollbackOrgResponse } from "../../../../gen/iam/v1alpha/org_file_pb.ts";
import { belowOrg } from "../../calls/paths.ts";
import { rollbackTexts } from "../../texts/moment-texts.ts";
import { Empty } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PreviewNote } from "../../ui/preview-note.tsx";
import { Time } from "../../ui/time.tsx";
import { PlannedChanges } from "./planned-changes.tsx";

interface RollbackPlanProps {
  /** What the service has answered without making it. */
  readonly plan: RollbackOrgResponse;
  readonly leavesOut: boolean;
  /** The button that makes it. */
  readonly children: ReactNode;
}

/** What would be changed, who would gain and lose what by it, what stays different, and why it cannot be done. */
export function RollbackPlan({ plan, leavesOut, children }: RollbackPlanProps) {
  const { changes, obstacles, leftOut, accessPreview, targetTime, impliedRemovals, impliedRemovalCount } = plan;
  return (
    <>
      <div className="rollback">
        <h2>
          {rollbackTexts.to} <Time at={targetTime} />
        </h2>
        {obstacles.length === 0 ? null : (
          <div className="note problem" role="alert">
            <p>{rollbackTexts.obstacles}</p>
            <Sentences of={obstacles} />
            {leavesOut ? null : (
              <Link to="." search={(before) => ({ ...before, leaveOut: true })} className="button plain">
                {rollbackTexts.leaveOut}
              </Link>
            )}
          </div>
        )}
        {changes.length === 0 ? <Empty title={rollbackTexts.nothing} /> : null}
        {accessPreview === undefined ? null : <PreviewNote preview={accessPreview} />}
        {obstacles.length > 0 || changes.length === 0 ? null : <div className="actions">{children}</div>}
      </div>
      {changes.length === 0 ? null : (
        <Section title={rollbackTexts.changes}>
          <PlannedChanges changes={changes} />
          <GoneToo removals={impliedRemovals} count={impliedRemovalCount} />
        </Section>
      )}
      {leftOut.length === 0 ? null : (
        <Section title={rollbackTexts.leftOut}>
          <Sentences of={leftOut} />
        </Section>
      )}
    </>
  );
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {of.map((sentence) => (
        <li key={sentence}>
          <bdi>{sentence}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** What goes with something that is deleted. */
function GoneToo({ removals, count }: { readonly removals: readonly ImpliedRemoval[]; readonly count: number }) {
  if (count === 0) return null;
  return (
    <details>
      <summary>{rollbackTexts.alsoGone(count)}</summary>
      <ul>
        {removals.map(({ resourcePath, withPath }) => (
          <li key={resourcePath}>
            <bdi>{belowOrg(resourcePath)}</bdi>{" "}
            <span className="quiet-text">
              {rollbackTexts.with} <bdi>{belowOrg(withPath)}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {count > removals.length ? <p>{rollbackTexts.moreGone(count - removals.length)}</p> : null}
    </details>
  );
}
