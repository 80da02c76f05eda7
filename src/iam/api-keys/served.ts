import type { ApiKeySchema } from "../../../gen/iam/v1alpha/api_key_pb.ts";
import type { ResourceRules, ServedResource } from "../../standard-methods/rules.ts";
import type { IssuedRow } from "./message.ts";

export type ServedApiKeys = ServedResource<"api_keys", IssuedRow, typeof ApiKeySchema>;
export type ApiKeyRules = ResourceRules<"api_keys", IssuedRow, typeof ApiKeySchema>;
