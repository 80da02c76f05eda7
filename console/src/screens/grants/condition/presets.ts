// What can be added to a condition. Each begins with a value for which it does not hold everywhere.
import type { conditionTexts } from "../../../texts/condition-texts.ts";
import { firstPart, type Part } from "./parts.ts";

export type PresetName = keyof typeof conditionTexts.presets;

/** @param on where the role is granted, such as `/orgs/acme`. */
export function presetPart(name: PresetName, on: string): Part {
  switch (name) {
    case "type":
      return { ...firstPart("path"), operator: "contains", value: "/instances/" };
    case "prefix":
      return { ...firstPart("path"), value: `${prefixOf(on)}/` };
    case "label":
      return { ...firstPart("label"), value: "dev" };
    case "from":
      return { ...firstPart("time"), operator: ">=" };
    case "until":
      return firstPart("time");
    case "hoursFrom":
      return { ...firstPart("hour"), key: ownZone() };
    case "hoursUntil":
      return { ...firstPart("hour"), key: ownZone(), operator: "<", value: "18" };
    case "weekdays":
      return { ...firstPart("weekday"), key: ownZone() };
    case "address":
      return { ...firstPart("context"), operator: "startsWith", value: "192.0.2." };
    case "attribute":
      return { ...firstPart("context"), key: "reason", value: "support" };
    case "subject":
      return firstPart("subject");
  }
}

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What is on a customer or on the platform is in orgs. */
const prefixOf = (on: string): string => (on === "" || on.startsWith("/customers/") ? "/orgs" : on);
