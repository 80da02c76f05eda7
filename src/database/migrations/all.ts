import type { Migrations } from "../migration/migration.ts";
import { createResources } from "./0001-resources.ts";
import { createWriteRequests } from "./0002-write-requests.ts";
import { createStatesAndCounts } from "./0003-states-and-counts.ts";
import { createListIndexes } from "./0004-list-indexes.ts";
import { createAccess } from "./0005-access.ts";
import { indexConditionalBindings } from "./0006-conditional-bindings.ts";
import { dropTriggersAndCascades } from "./0007-no-triggers.ts";
import { addLabelParents } from "./0008-label-parents.ts";
import { addRevisionTokens } from "./0009-revision-tokens.ts";
import { reserveNames } from "./0010-reserved-names.ts";
import { partitionChangeLog } from "./0011-change-log.ts";
import { limitKeys } from "./0012-limited-keys.ts";
import { createServiceCatalog } from "./0013-service-catalog.ts";
import { createQuotas } from "./0014-quotas.ts";
import { addServiceBindings } from "./0015-service-bindings.ts";
import { createResourcesAndOperations } from "./0016-resources.ts";
import { createQuotaRequests } from "./0017-quota-requests.ts";
import { createSweeps } from "./0018-sweeps.ts";
import { addResourceReferences } from "./0019-resource-references.ts";
import { createTokens } from "./0020-tokens.ts";
import { createSessions } from "./0021-sessions.ts";
import { addRoutes } from "./0022-routes.ts";
import { createBrowserSessions } from "./0024-browser-sessions.ts";
import { addKeyRules } from "./0026-key-rules.ts";
import { addImpersonation } from "./0027-impersonation.ts";
import { createClients } from "./0028-clients.ts";
import { createIdentities } from "./0029-identities.ts";
import { keepDeletedResources } from "./0030-deleted-resources.ts";
import { allowConcurrentOperations } from "./0031-concurrent-operations.ts";
import { addSessionsOfCodes } from "./0032-codes-of-sessions.ts";
import { addRedirectUrisOfSessions } from "./0034-redirect-uris-of-sessions.ts";
import { acceptIdentities } from "./0036-accepted-identities.ts";
import { boundWhatCounts } from "./0039-counted-kinds.ts";
import { createMigrationRunner } from "./0040-migration-runner.ts";
import { addRefreshOrigins } from "./0042-refresh-origins.ts";
import { chainEntries } from "./0050-chained-entries.ts";
import { addEndsOfChains } from "./0051-ends-of-chains.ts";
import { declareLogIndexes, logIndexes } from "./0052-log-indexes.ts";
import { tellTimelines } from "./0060-timelines.ts";
import { createAccessEvents } from "./0063-access-events.ts";
import { customerLogIndexes, declareCustomerLogIndex } from "./0064-customer-log-index.ts";
import { fillContainers } from "./0065-containers.ts";
import { addIssuer } from "./0080-issuer.ts";
import { createWebhookDeliveries, createWebhooks } from "./0081-webhooks.ts";
import { createEventStreams } from "./0083-event-streams.ts";
import { createLogListeners } from "./0089-log-listeners.ts";
import { extendWebhooks, webhookIndexes } from "./0090-followed-webhooks.ts";
import { addHeadsOfCustomers, addUseOfCustomerLogs } from "./0093-heads-of-customers.ts";
import { addCommandLineClient } from "./0102-command-line-client.ts";
import { addNotedTimeOfStreams, streamIndexes } from "./0103-event-streams-noted.ts";
import { createManagedResources } from "./0115-managed-resources.ts";
import { addIdentitiesOfManaged } from "./0116-identities-of-managed.ts";
import {
  addWebhooksOfCustomers,
  indexesOfCustomerWebhooks,
  validateParentsOfWebhooks,
} from "./0124-webhooks-of-customers.ts";
import { directoryMigrations } from "./0131-directory.ts";
import { indexesOfTopLabels } from "./0130-labels-without-org.ts";
import { createAccessRequests } from "./0138-access-requests.ts";
import { createScimSources } from "./0143-scim-sources.ts";
import { createAccessUses } from "./0140-access-uses.ts";
import { addFirstSignIns } from "./0146-first-sign-ins.ts";
import { addSupportAccess, supportIndexes } from "./0154-support-access.ts";
import { addApprovals, indexesOfApprovals } from "./0156-approvals.ts";
import { dropUseOfCustomerLogs } from "./0158-no-use-of-customer-logs.ts";
import { createUsageSummaries, indexesOfUsageSums } from "./0128-usage-summaries.ts";
import { createContacts, indexesOfEndingKeys } from "./0150-contacts.ts";
import {
  addContactsOfCustomers,
  indexesOfCustomerContacts,
  validateParentsOfContacts,
} from "./0152-contacts-of-customers.ts";
import { createInvitations, indexesOfAddresses } from "./0135-invitations.ts";
import { createPastStates } from "./0133-past-states.ts";
import { createPastRoles } from "./0134-past-roles.ts";
import { customerColumns } from "./customer-columns.ts";
import { customerContract, customerKeys } from "./customer-keys.ts";
import { keysWithCustomers } from "./keys-with-customers.ts";
import { lastKeysWithCustomers } from "./last-keys-with-customers.ts";

/**
 * All migrations, in order. The name of a released migration never changes, and no released migration is removed.
 *
 * From 0040 on, what a migration does to servers of earlier versions is among its terms. Before, servers of the previous version kept
 * running while a newer one migrated, except for these; stop older servers first:
 *
 * - `0007-no-triggers`: from there on, the servers maintain counts and labels and remove dependent rows. An older server does
 *   none of that, and all its writes fail.
 * - `0009-revision-tokens`: an older server cannot read revisions, so all its calls fail.
 * - `0011-change-log`: an older server does not write the new columns of the change log, so all its writes fail.
 * - `0012-limited-keys`: an older server does not limit API keys.
 * - `0020-tokens`: an older server removes API keys without ending their tokens.
 */
export const migrations: Migrations = {
  "0001-resources": { up: createResources },
  "0002-write-requests": { up: createWriteRequests },
  "0003-states-and-counts": { up: createStatesAndCounts },
  "0004-list-indexes": { up: createListIndexes },
  "0005-access": { up: createAccess },
  "0006-conditional-bindings": { up: indexConditionalBindings },
  "0007-no-triggers": { up: dropTriggersAndCascades },
  "0008-label-parents": { up: addLabelParents },
  "0009-revision-tokens": { up: addRevisionTokens },
  "0010-reserved-names": { up: reserveNames },
  "0011-change-log": { up: partitionChangeLog },
  "0012-limited-keys": { up: limitKeys },
  "0013-service-catalog": { up: createServiceCatalog },
  "0014-quotas": { up: createQuotas },
  "0015-service-bindings": { up: addServiceBindings },
  "0016-resources": { up: createResourcesAndOperations },
  "0017-quota-requests": { up: createQuotaRequests },
  "0018-sweeps": { up: createSweeps },
  "0019-resource-references": { up: addResourceReferences },
  "0020-tokens": { up: createTokens },
  "0021-sessions": { up: createSessions },
  "0022-routes": { up: addRoutes },
  "0024-browser-sessions": { up: createBrowserSessions },
  "0026-key-rules": { up: addKeyRules },
  "0027-impersonation": { up: addImpersonation },
  "0028-clients": { up: createClients },
  "0029-identities": { up: createIdentities },
  "0030-deleted-resources": { up: keepDeletedResources },
  "0031-concurrent-operations": { up: allowConcurrentOperations },
  "0032-codes-of-sessions": { up: addSessionsOfCodes },
  "0034-redirect-uris-of-sessions": { up: addRedirectUrisOfSessions },
  "0036-accepted-identities": { up: acceptIdentities },
  "0039-counted-kinds": { up: boundWhatCounts },
  "0040-migration-runner": { up: createMigrationRunner },
  "0042-refresh-origins": { up: addRefreshOrigins },
  ...customerColumns,
  "0048-customer-keys": { createIndexes: customerKeys },
  ...customerContract,
  "0050-chained-entries": { up: chainEntries },
  "0051-ends-of-chains": { up: addEndsOfChains },
  "0052-log-indexes": { up: declareLogIndexes },
  "0053-partition-indexes": { createIndexes: logIndexes },
  // With it, sessions that have ended are found.
  "0054-ends-of-sessions": {
    createIndexes: [{ name: "sessions_by_expire_time", definition: "on sessions (expire_time)" }],
  },
  "0060-timelines": { up: tellTimelines },
  "0063-access-events": { up: createAccessEvents },
  "0064-customer-log-index": { up: declareCustomerLogIndex },
  "0065-containers": { fill: fillContainers },
  "0065-customer-partition-indexes": { createIndexes: customerLogIndexes },
  ...keysWithCustomers,
  "0080-issuer": { up: addIssuer },
  "0081-webhooks": { up: createWebhooks },
  "0082-webhook-deliveries": { up: createWebhookDeliveries },
  "0083-event-streams": { up: createEventStreams },
  "0089-log-listeners": { up: createLogListeners },
  "0090-followed-webhooks": { up: extendWebhooks },
  "0091-due-webhooks": { createIndexes: webhookIndexes },
  "0093-heads-of-customers": { up: addHeadsOfCustomers },
  "0094-use-of-customer-logs": { up: addUseOfCustomerLogs },
  "0102-command-line-client": { up: addCommandLineClient },
  "0103-event-streams-noted": { up: addNotedTimeOfStreams },
  "0103-event-streams-noted-index": { createIndexes: streamIndexes },
  "0115-managed-resources": { up: createManagedResources },
  "0116-identities-of-managed": { up: addIdentitiesOfManaged },
  ...lastKeysWithCustomers,
  "0124-webhooks-of-customers": { up: addWebhooksOfCustomers },
  "0125-webhooks-of-customers-indexes": { createIndexes: indexesOfCustomerWebhooks },
  "0125-webhooks-of-customers-references": { up: validateParentsOfWebhooks },
  "0128-usage-summaries": { up: createUsageSummaries },
  "0129-usage-summaries-index": { createIndexes: indexesOfUsageSums },
  "0130-labels-without-org": { createIndexes: indexesOfTopLabels },
  ...directoryMigrations,
  "0133-past-states": { up: createPastStates },
  "0134-past-roles": { up: createPastRoles },
  "0135-invitations": { up: createInvitations },
  "0136-invitations-index": { createIndexes: indexesOfAddresses },
  "0138-access-requests": { up: createAccessRequests },
  "0140-access-uses": { up: createAccessUses },
  "0143-scim-sources": { up: createScimSources },
  "0146-first-sign-ins": { up: addFirstSignIns },
  "0150-contacts": { up: createContacts },
  "0151-ending-keys-index": { createIndexes: indexesOfEndingKeys },
  "0152-contacts-of-customers": { up: addContactsOfCustomers },
  "0153-contacts-of-customers-indexes": { createIndexes: indexesOfCustomerContacts },
  "0153-contacts-of-customers-references": { up: validateParentsOfContacts },
  "0154-support-access": { up: addSupportAccess },
  "0155-support-access-indexes": { createIndexes: supportIndexes },
  "0156-approvals": { up: addApprovals },
  "0157-approvals-index": { createIndexes: indexesOfApprovals },
  "0158-no-use-of-customer-logs": { requires: "0123-logs-of-customers", up: dropUseOfCustomerLogs },
};

/**
 * The first version that knows a migration which later ones require, for who has to run it before this one: a database that lacks what a
 * migration requires is not migrated beyond it in one step.
 */
export const versionsByMigration: Readonly<Record<string, string>> = {
  "0048-customer-keys": "the version of commit e04339d3",
  "0094-use-of-customer-logs": "the version of commit 023e481dd",
  "0123-logs-of-customers": "the version of commit 10488199e",
};

/** The names of all migrations. */
export const migrationNames: readonly string[] = Object.keys(migrations);
