// Made by scripts/resource-types.ts from the protos. Do not edit.

/** The resources of the API, by their types, as `google.api.resource` declares them. */
export const resourceTypes = {
  AccessRequest: { singular: "accessRequest", plural: "accessRequests", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "accessRequests"]] },
  ApiKey: { singular: "apiKey", plural: "apiKeys", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "members", "apiKeys"]] },
  Client: { singular: "client", plural: "clients", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "clients"]] },
  Contact: { singular: "contact", plural: "contacts", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "contacts"], ["customers", "contacts"]] },
  Customer: { singular: "customer", plural: "customers", area: "iam", sharesId: false, identifierNames: false, patterns: [["customers"]] },
  EventStream: { singular: "eventStream", plural: "eventStreams", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "eventStreams"]] },
  Group: { singular: "group", plural: "groups", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "groups"]] },
  GroupMember: { singular: "groupMember", plural: "groupMembers", area: "iam", sharesId: true, identifierNames: false, patterns: [["orgs", "groups", "members"]] },
  Identity: { singular: "identity", plural: "identities", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "members", "identities"]] },
  IdentityProvider: { singular: "identityProvider", plural: "identityProviders", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "identityProviders"]] },
  Member: { singular: "member", plural: "members", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "members"]] },
  Operation: { singular: "operation", plural: "operations", area: "resources", sharesId: false, identifierNames: false, patterns: [["orgs", "projects", "operations"]] },
  Org: { singular: "org", plural: "orgs", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs"]] },
  Project: { singular: "project", plural: "projects", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "projects"]] },
  QualityKind: { singular: "qualityKind", plural: "qualityKinds", area: "resources", sharesId: false, identifierNames: true, patterns: [["qualityKinds"]] },
  QuantityKind: { singular: "quantityKind", plural: "quantityKinds", area: "resources", sharesId: false, identifierNames: true, patterns: [["quantityKinds"]] },
  QuotaRequest: { singular: "quotaRequest", plural: "quotaRequests", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "quotaRequests"]] },
  Resource: { singular: "resource", plural: "resources", area: "resources", sharesId: false, identifierNames: false, patterns: [["orgs", "projects", "resources"]] },
  ResourceType: { singular: "resourceType", plural: "resourceTypes", area: "resources", sharesId: false, identifierNames: false, patterns: [["services", "resourceTypes"]] },
  Role: { singular: "role", plural: "roles", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "roles"], ["roles"]] },
  RoleBinding: { singular: "roleBinding", plural: "roleBindings", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "roleBindings"], ["orgs", "projects", "roleBindings"], ["customers", "roleBindings"], ["services", "roleBindings"], ["roleBindings"]] },
  ScimSource: { singular: "scimSource", plural: "scimSources", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "scimSources"]] },
  Service: { singular: "service", plural: "services", area: "resources", sharesId: false, identifierNames: false, patterns: [["services"]] },
  Session: { singular: "session", plural: "sessions", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "members", "sessions"]] },
  Subgroup: { singular: "subgroup", plural: "subgroups", area: "iam", sharesId: true, identifierNames: false, patterns: [["orgs", "groups", "subgroups"]] },
  Webhook: { singular: "webhook", plural: "webhooks", area: "iam", sharesId: false, identifierNames: false, patterns: [["orgs", "webhooks"], ["customers", "webhooks"]] },
} as const;

/** The resources of which each parent has exactly one, by their types. */
export const singletons = {
  AccessLog: { segment: "accessEvents", parents: [["orgs"]] },
  ChangeLog: { segment: "changes", parents: [["orgs"], ["customers"], []] },
  Quota: { segment: "quota", parents: [["orgs"], ["orgs", "projects"], ["customers"]] },
} as const;

/** What one resource of a collection is called. */
export const singulars = {
  accessRequests: "accessRequest",
  apiKeys: "apiKey",
  clients: "client",
  contacts: "contact",
  customers: "customer",
  eventStreams: "eventStream",
  groups: "group",
  identities: "identity",
  identityProviders: "identityProvider",
  members: "member",
  operations: "operation",
  orgs: "org",
  projects: "project",
  qualityKinds: "qualityKind",
  quantityKinds: "quantityKind",
  quotaRequests: "quotaRequest",
  resourceTypes: "resourceType",
  resources: "resource",
  roleBindings: "roleBinding",
  roles: "role",
  scimSources: "scimSource",
  services: "service",
  sessions: "session",
  subgroups: "subgroup",
  webhooks: "webhook",
} as const;
