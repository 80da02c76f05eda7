// A field that a resource has, and its Update does not write, would be accepted and ignored.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, test } from "vitest";
import { Contact_Kind } from "../../gen/iam/v1alpha/contact_pb.ts";
import {
  IdentityProvider_OnFirstSignIn,
  IdentityProvider_TokenEndpointAuthMethod,
} from "../../gen/iam/v1alpha/identity_provider_pb.ts";
import { EventStream_SubjectFormat } from "../../gen/iam/v1alpha/event_stream_pb.ts";
import { Webhook_Format } from "../../gen/iam/v1alpha/webhook_pb.ts";
import type { ResourceType } from "../../src/paths/patterns.ts";
import { isImmutable, isOutputOnly } from "../../src/validation/field-behavior.ts";
import { type Api, createApi, uniqueName } from "../support/api.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { openWorkplace } from "../support/workplace.ts";
import { type WrittenResource, maskOf, verbsOf, writtenResources } from "../support/written-resources.ts";

let server: SharedServer;
let api: Api;
beforeAll(async () => {
  server = await sharedServer();
  api = createApi("gRPC", server.url, server.operatorKey);
});

const timeIn = (year: number) => timestampFromDate(new Date(Date.UTC(year, 0, 1)));

/** The fields of a resource that its `change` does not have, as an Update may set them. */
const furtherFields: Readonly<Partial<Record<ResourceType, object>>> = {
  Org: {
    apiKeyPolicy: { maxLifetime: { seconds: 7_200n, nanos: 0 }, scopesRequired: true },
    legalName: "Other Ltd",
    billingReference: "PO-4711",
    accessRequestApprovals: 2,
  },
  Client: { redirectUris: ["https://app.example.com/signed-in"], scopes: ["iam.orgs.get"] },
  Customer: { legalName: "Other Ltd", billingReference: "PO-4711" },
  Member: { email: "other@example.com" },
  Contact: { email: "other@example.com", kinds: [Contact_Kind.SECURITY, Contact_Kind.TECHNICAL] },
  IdentityProvider: {
    emailTrusted: true,
    onFirstSignIn: IdentityProvider_OnFirstSignIn.CREATE,
    firstSignInCondition: "has(claims.groups)",
    scopes: ["profile"],
    tokenEndpointAuthMethod: IdentityProvider_TokenEndpointAuthMethod.CLIENT_SECRET_POST,
  },
  EventStream: {
    audience: "https://other.example.com",
    pushUrl: "https://other.invalid",
    eventTypes: ["https://schemas.openid.net/secevent/caep/event-type/session-revoked"],
    subjectFormat: EventStream_SubjectFormat.COMPLEX,
  },
  Webhook: {
    url: "https://other.invalid",
    filter: "type = CREATED",
    format: Webhook_Format.CLOUDEVENTS,
    holdRetention: true,
  },
  Role: { labels: { tier: "gold" } },
  RoleBinding: {
    startTime: timeIn(2100),
    expireTime: timeIn(2101),
    condition: 'request.time > timestamp("2100-02-01T00:00:00Z")',
  },
  ResourceType: {
    operations: ["create", "stop", "delete"].map((verb) => ({ verb })),
    parametersSchema: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
    routingParameter: "zone",
  },
};

/** Other tests change these: they can be set in one state only, are never shown, or name what has to exist. */
const elsewhere: Readonly<Partial<Record<ResourceType, readonly string[]>>> = {
  Member: ["invitation_expire_time"],
  IdentityProvider: ["client_secret", "first_sign_in_group_paths"],
  EventStream: ["push_authorization"],
  // test/iam/access-requests/support-access.test.ts
  Org: ["support_access_required"],
  // test/scim/sources.test.ts
  ScimSource: ["member_path", "identity_provider_path"],
  Service: ["counted_kinds"],
};

/** Identifies a version of the item, or the item. */
const identifying = new Set(["etag", "name"]);

function fieldsOf({ definition, change }: WrittenResource): Record<string, unknown> {
  const description = definition.schema.field["description"] === undefined ? {} : { description: "Another text" };
  return { ...description, ...change, ...furtherFields[definition.type] };
}

const updated = writtenResources.filter((resource) => verbsOf(resource).includes("Update"));

describe.each(updated.map((resource) => ({ name: resource.name, resource })))("an Update of $name", ({ resource }) => {
  const fields = fieldsOf(resource);

  test("is tested with each field that it may change", () => {
    const mayChange = resource.definition.schema.fields.filter(
      (field) => !isOutputOnly(field) && !isImmutable(field) && !identifying.has(field.name),
    );
    const untested = mayChange.filter(
      ({ name, localName }) => !(localName in fields) && !elsewhere[resource.type]?.includes(name),
    );
    expect(untested.map(({ name }) => name)).toEqual([]);
  });

  test("changes each of them", async () => {
    const place = await openWorkplace(resource, api);
    const name = uniqueName("item");
    await place.makeWay(name);
    const { path } = await place.create(name);
    const before = await place.get(path);
    for (const [field, value] of Object.entries(fields)) expect(before).not.toMatchObject({ [field]: value });
    await place.update(path, fields, { updateMask: maskOf(fields) });
    expect(await place.get(path)).toMatchObject(fields);
  });
});
