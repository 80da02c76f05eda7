import { type Operation, Operation_StateSchema } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { useTypeNames } from "../../calls/use-catalog.ts";
import { operationTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { OperationError, Progress } from "../operations/progress.tsx";
import { Qualities, Quantities } from "../resources/amounts.tsx";

interface OperationFactsProps {
  readonly operation: Operation;
  readonly resourceName: string;
  /** Whether the resource cannot be read any more. */
  readonly isGone: boolean;
}

export function OperationFacts({ operation, resourceName, isGone }: OperationFactsProps) {
  const typeNameOf = useTypeNames();
  const { path, resourcePath, typePath, state, done, attempts, lastError, memberPath, createTime, endTime } = operation;
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={Operation_StateSchema} value={state} />
        <div aria-live="polite">
          <Progress operation={operation} />
        </div>
      </Fact>
      {lastError === undefined ? null : (
        <Fact title={operationTexts.lastError}>
          <OperationError error={lastError} />
        </Fact>
      )}
      {attempts > 1 ? <Fact title={operationTexts.attempts}>{attempts}</Fact> : null}
      <Fact title={operationTexts.resource}>
        {isGone ? <bdi>{resourceName}</bdi> : <PathLink path={resourcePath} name={resourceName} />}
      </Fact>
      <Fact title={texts.columns.type}>
        <PathLink path={typePath} name={typeNameOf(typePath)} />
      </Fact>
      <Amounts operation={operation} />
      <Fact title={texts.columns.who}>
        {memberPath === "" ? texts.overview.service : <PathLinks paths={[memberPath]} />}
      </Fact>
      <Fact title={texts.columns.begun}>
        <Time at={createTime} />
      </Fact>
      {done ? (
        <Fact title={operationTexts.ended}>
          <Time at={endTime} />
        </Fact>
      ) : null}
      <Fact title={texts.columns.path}>
        <code translate="no">{path}</code>
      </Fact>
    </Facts>
  );
}

/** What the operation is to give, or has given. */
function Amounts({ operation }: Pick<OperationFactsProps, "operation">) {
  const { quantities, givenQuantities, qualities, givenQualities } = operation;
  const [wantedAmounts, wantedGrades] = [Object.keys(quantities).length > 0, Object.keys(qualities).length > 0];
  const [givenAmounts, givenGrades] = [Object.keys(givenQuantities).length > 0, Object.keys(givenQualities).length > 0];
  return (
    <>
      {wantedAmounts || wantedGrades ? (
        <Fact title={operationTexts.wanted}>
          <Quantities of={quantities} />
          <Qualities of={qualities} />
        </Fact>
      ) : null}
      {givenAmounts || givenGrades ? (
        <Fact title={operationTexts.given}>
          <Quantities of={givenQuantities} />
          <Qualities of={givenQualities} />
        </Fact>
      ) : null}
    </>
  );
}
