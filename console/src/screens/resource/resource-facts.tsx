import { type Resource, Resource_StateSchema } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { parentOf } from "../../calls/paths.ts";
import { useResourceName } from "../../calls/use-resource-name.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { DeletionFacts } from "../../ui/deletion-facts.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { PathLink, PathLinks } from "../../ui/path-link.tsx";
import { StateBadge } from "../../ui/state-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { hasOf, Qualities, Quantities } from "../resources/amounts.tsx";
import { Json, ParameterFacts } from "./parameter-facts.tsx";

interface ResourceFactsProps {
  readonly resource: Resource;
  readonly type: ResourceType;
  /** Whether the person may read resources of every type. */
  readonly mayReadUsed: boolean;
}

export function ResourceFacts({ resource, type, mayReadUsed }: ResourceFactsProps) {
  const { path, state, stateReason, quantities, givenQuantities, qualities, givenQualities, references } = resource;
  return (
    <Facts>
      <Fact title={texts.columns.state}>
        <StateBadge of={Resource_StateSchema} value={state} /> <bdi>{stateReason}</bdi>
      </Fact>
      {resource.operationPaths.length === 0 ? null : (
        <Fact title={resourceTexts.underWay}>
          {resource.operationPaths.map((operation) => (
            <div key={operation}>
              <PathLink path={operation} name={operationTexts.see} />
            </div>
          ))}
        </Fact>
      )}
      <Fact title={texts.columns.type}>
        <PathLink path={type.path} name={type.displayName || type.name} />
      </Fact>
      <Fact title={resourceTexts.project}>
        <PathLinks paths={[parentOf(path)]} />
      </Fact>
      {isEmpty(quantities) && isEmpty(givenQuantities) ? null : (
        <Fact title={resourceTexts.quantities}>
          <Quantities of={hasOf(givenQuantities, quantities)} askedFor={quantities} />
        </Fact>
      )}
      {isEmpty(qualities) && isEmpty(givenQualities) ? null : (
        <Fact title={resourceTexts.qualities}>
          <Qualities of={hasOf(givenQualities, qualities)} askedFor={qualities} />
        </Fact>
      )}
      {Object.entries(references).map(([name, used]) => (
        <Fact key={name} title={`${resourceTexts.uses} ${name}`}>
          <UsedResource path={used} mayRead={mayReadUsed} />
        </Fact>
      ))}
      <ParameterFacts schema={type.parametersSchema} value={resource.parameters} />
      {isEmpty(resource.outputs ?? {}) ? null : (
        <Fact title={resourceTexts.outputs}>
          <Json value={resource.outputs ?? {}} />
        </Fact>
      )}
      <PathFacts of={resource} />
      <Fact title={texts.columns.created}>
        <Time at={resource.createTime} />
      </Fact>
      <DeletionFacts of={resource} />
    </Facts>
  );
}

/** What a resource uses. Its path has ids. */
function UsedResource({ path, mayRead }: { readonly path: string; readonly mayRead: boolean }) {
  return <PathLink path={path} name={useResourceName(path, mayRead)} />;
}

const isEmpty = (map: object): boolean => Object.keys(map).length === 0;
