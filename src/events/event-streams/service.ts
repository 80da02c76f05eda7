import type { ServiceImpl } from "@connectrpc/connect";
import { EventStreamsService } from "../../../gen/iam/v1alpha/event_stream_pb.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import type { SignalDependencies } from "../signals/dependencies.ts";
import { eventStreamDefinition } from "./definition.ts";
import { createInspectEventStream, createPollEventStream, createVerifyEventStream } from "./poll.ts";
import { type EventStreamDependencies, createEventStreamRules } from "./rules.ts";
import { type ServedEventStreams, createChangeEventStream, pause, resume } from "./set-state.ts";

export function createEventStreamsService(
  dependencies: ResourceDependencies & EventStreamDependencies & SignalDependencies,
): ServiceImpl<typeof EventStreamsService> {
  const definition = eventStreamDefinition;
  const [place] = definition.places;
  const rules = createEventStreamRules(dependencies);
  const reader = dependencies.readers.readerOf(definition, place);
  const served: ServedEventStreams = { definition, place, rules, reader, dependencies };
  const { method } = EventStreamsService;
  return completeService(EventStreamsService, {
    ...createStandardHandlers(EventStreamsService, dependencies, definition, rules),
    pauseEventStream: createChangeEventStream(served, method.pauseEventStream, pause),
    resumeEventStream: createChangeEventStream(served, method.resumeEventStream, (transaction) =>
      resume(served, transaction),
    ),
    inspectEventStream: createInspectEventStream(served),
    verifyEventStream: createVerifyEventStream(served, dependencies),
    pollEventStream: createPollEventStream(served, dependencies),
  });
}
