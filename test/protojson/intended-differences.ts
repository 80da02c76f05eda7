// Where the JSON of the transcoder is intended to differ from that of Go's protojson. docs/decisions/0009-json.md says why.
import { OddFieldsSchema } from "../rest/gen/rest/test/v1/odd_fields_pb.ts";
import { ParametersSchema, Proto3MessageSchema } from "../rest/gen/rest/test/v1/parameters_pb.ts";
import type { ReadDifference } from "../rest/json/intended-differences.ts";

const fieldMask = "google.protobuf.FieldMask";
const names = /^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/;

export const differences: readonly ReadDifference[] = [
  {
    what: "keys that are numbers have one spelling",
    reason: 'protojson takes "01" for "1", and two spellings of a key for two entries, of which one is lost.',
    here: "refused",
    example: [Proto3MessageSchema, '{"map_value9":{"01":"a"}}'],
    concerns: ({ type, json }) => type === "key" && typeof json === "string" && !/^-?(0|[1-9]\d*)$/.test(json),
  },
  {
    what: "the key -0 is 0 without a sign too",
    reason: "protojson takes it for signed keys and refuses it for unsigned ones; here all integers are read alike.",
    here: "read",
    example: [Proto3MessageSchema, '{"map_value9":{"-0":"a"}}'],
    concerns: ({ type, json }) => type === "key" && json === "-0",
  },
  {
    what: "base64 has no line breaks",
    reason: "protojson ignores them wherever they are; no other white space.",
    here: "refused",
    example: [ParametersSchema, '{"bytes_value":"/g\\n"}'],
    concerns: ({ type, json }) => type === "BYTES" && typeof json === "string" && /[\r\n]/.test(json),
  },
  {
    what: "durations have digits on both sides of the point and no plus sign",
    reason: 'protojson takes "+1s", ".5s" and "1.s"; the JSON mapping of Protobuf shows numbers as in JSON.',
    here: "refused",
    example: [ParametersSchema, '{"duration":"+1s"}'],
    concerns: ({ type, json }) =>
      type === "google.protobuf.Duration" && typeof json === "string" && !/^-?\d+(\.\d+)?s$/.test(json),
  },
  {
    what: "an offset of a time is less than a day",
    reason: "protojson takes +24:00, which RFC 3339 does not have.",
    here: "refused",
    example: [ParametersSchema, '{"timestamp":"1900-01-01T00:00:00+24:00"}'],
    concerns: ({ type, json }) =>
      type === "google.protobuf.Timestamp" && typeof json === "string" && /[-+]24:\d\d$/.test(json),
  },
  {
    what: "the fraction of a second follows a point",
    reason: "protojson takes a comma, as ISO 8601 does and RFC 3339 does not.",
    here: "refused",
    example: [ParametersSchema, '{"timestamp":"2026-01-01T00:00:00,5Z"}'],
    concerns: ({ type, json }) =>
      type === "google.protobuf.Timestamp" && typeof json === "string" && /:\d\d,\d/.test(json),
  },
  {
    what: "a path of a FieldMask may be more than names",
    reason:
      "Keys of maps are parts of paths (AIP-161), such as labels.cost-center. The method refuses a path that names nothing.",
    here: "read",
    example: [ParametersSchema, '{"field_mask":"labels.cost-center"}'],
    concerns: ({ type, json }) =>
      type === fieldMask && typeof json === "string" && json.split(",").some((path) => !names.test(path)),
  },
  {
    what: "null is an unset list of Values too",
    reason: "null is accepted for every field; protojson takes it for a single Value, which a list is not.",
    here: "read",
    example: [OddFieldsSchema, '{"values":null}'],
    concerns: ({ type, json }) => type === "list" && json === null,
  },
];
