import { expect, test } from "vitest";
import { streamTexts } from "../../console/src/texts/stream-texts.ts";
import { supportedEventTypes } from "../../src/events/signals/event-types.ts";

test("the console has a word for each type of event that a stream can be limited to, and for no other", () => {
  expect(Object.keys(streamTexts.eventTypeWords).toSorted()).toEqual([...supportedEventTypes].toSorted());
});
