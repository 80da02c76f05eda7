// The tables that are derived from resources, as Kysely and pg read them.

/** The number of resources below each parent, without deleted ones. Maintained by the writers of the rows. */
export interface ResourceCounts {
  customer_id: string;
  org_id: string;
  parent_id: string;
  /** As in the protos: `GroupMember`. */
  resource_type: string;
  count: string;
}

/** The labels of resources, including deleted ones, in list order. Maintained by the writers of the rows. */
export interface ResourceLabels {
  customer_id: string;
  /** The nil UUID for customers and orgs, which are in no org: a column of a primary key is not null. */
  org_id: string;
  /** The id of the direct parent; the nil UUID for customers and orgs. */
  parent_id: string;
  /** As in the protos: `ApiKey`. */
  resource_type: string;
  key: string;
  value: string;
  resource_id: string;
}

/** Where the customer, org or API key is that a text names on the whole platform. Triggers keep it, also for deleted resources. */
export interface Directory {
  /** As in the protos: `ApiKey`. */
  resource_type: "Customer" | "Org" | "ApiKey";
  /** The name of a customer; the name or id of an org; the prefix of an API key. */
  name: string;
  customer_id: string;
  /** Null for a customer. */
  org_id: string | null;
}

/** The resources that a resource uses, and those that a running operation wants it to use: these are not deleted. */
export interface ResourceReferences {
  customer_id: string;
  org_id: string;
  resource_id: string;
  target_id: string;
}

/** Which resources of an org files manage, by their paths below it. */
export interface ManagedResources {
  customer_id: string;
  org_id: string;
  /** The first 16 bytes of the SHA-256 of the path: what names people is nowhere but in their rows. */
  path_hash: Buffer;
  /** That of the resource as the last apply of its source left it. */
  content_hash: Buffer;
  /** The address of the source. */
  source: string;
  version: string;
  /** That of the id and the time of creation of the resource; null if a version before this column has written the row. */
  identity_hash: Buffer | null;
}
