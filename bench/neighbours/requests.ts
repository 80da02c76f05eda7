// The requests of the benchmark of neighbours.
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { HttpRequest } from "../load-http.ts";
import { type Place, quietMembers, quietOrg } from "./place.ts";

type RequestOf<Of = Place> = (place: Of, index: number) => HttpRequest;

const api = "/iam/v1alpha";

function read(key: string, path: string): HttpRequest {
  return { method: "GET", path, headers: { authorization: `Bearer ${key}` } };
}

function send(key: string, path: string, body: unknown, method = "POST"): HttpRequest {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return { method, path, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
}

/** Serialises a large body once. */
function once(bodyOf: (place: Place) => unknown): (place: Place) => string {
  let text: string | undefined;
  return (place) => (text ??= JSON.stringify(bodyOf(place)));
}

const orgOf = ({ org }: Place): string => `orgs/${org.name}`;

/** Of the quiet org: two Gets, two checks and a create of a member. */
export const quietRequest: RequestOf<Pick<Place, "quietKey">> = ({ quietKey }, index) => {
  const member = `orgs/${quietOrg}/members/member-${index % quietMembers}`;
  if (index % 5 === 0) return send(quietKey, `${api}/orgs/${quietOrg}/members`, { name: `m-${randomUUID()}` });
  if (index % 5 < 3) return read(quietKey, `${api}/${member}`);
  const resource = `/orgs/${quietOrg}/projects/web`;
  const check = { subject_path: `/${member}`, permission: "iam.projects.get", resource_path: resource };
  return send(quietKey, `${api}/access:check`, check);
};

export const getWithConditions: RequestOf = (place) =>
  send(place.conditionalKey, `${api}/${orgOf(place)}/projects`, { name: "denied" });

export const checkConditions: RequestOf = (place) => {
  const subject = `/${orgOf(place)}/members/conditional`;
  // As many decisions as the conditions of a request may cost; the others are about the same resources.
  const checks = Array.from({ length: 100 }, (_, index) => ({
    subject_path: subject,
    permission: "iam.projects.delete",
    resource_path: `/${orgOf(place)}/projects/project-${index % 10}`,
  }));
  return send(place.hostileKey, `${api}/access:batchCheck`, { checks });
};

export const listSubjects: RequestOf = (place) =>
  send(place.hostileKey, `${api}/access:listSubjects`, {
    permission: "iam.access.explain",
    resource_path: `/${orgOf(place)}`,
    page_size: 1000,
  });

export const listResources: RequestOf = (place) =>
  send(place.hostileKey, `${api}/access:listResources`, {
    subject_path: `/${orgOf(place)}/members/caller`,
    permission: "iam.projects.get",
    parent_path: `/${orgOf(place)}`,
    page_size: 1000,
  });

export const explain: RequestOf = (place, index) =>
  send(place.hostileKey, `${api}/access:explain`, {
    subject_path: `/${orgOf(place)}/members/member-${index % place.org.members}`,
    permission: "iam.orgs.delete",
    resource_path: `/${orgOf(place)}`,
  });

export const deleteOrg: RequestOf = (place) => ({
  ...read(place.observerKey, `${api}/${orgOf(place)}`),
  method: "DELETE",
});

const manyQuestions = 1000;

const checks = once((place) => ({
  checks: Array.from({ length: manyQuestions }, (_, index) => ({
    subject_path: `/${orgOf(place)}/members/member-${(index * 7) % place.org.members}`,
    permission: "iam.projects.get",
    resource_path: `/${orgOf(place)}/projects/project-${(index * 3) % place.org.projects}`,
  })),
}));

export const checkMany: RequestOf = (place) => send(place.hostileKey, `${api}/access:batchCheck`, checks(place));

const evaluations = once((place) => ({
  evaluations: Array.from({ length: manyQuestions }, (_, index) => ({
    subject: { type: "member", id: `/${orgOf(place)}/members/member-${(index * 7) % place.org.members}` },
    action: { name: "iam.projects.get" },
    resource: { type: "project", id: `/${orgOf(place)}/projects/project-${(index * 3) % place.org.projects}` },
  })),
}));

export const evaluateMany: RequestOf = (place) => send(place.hostileKey, "/access/v1/evaluations", evaluations(place));

const list = (place: Place, query: Readonly<Record<string, string>>): HttpRequest =>
  read(place.hostileKey, `${api}/${orgOf(place)}/members?${new URLSearchParams(query).toString()}`);

const longFilter = Array(100).fill("labels.some_rather_long_key = 'a value'").join(" AND ").slice(0, 4096);

export const filterText: RequestOf = (place) => list(place, { filter: `${longFilter.slice(0, 4094)} (` });

const searches = Array.from({ length: 10 }, (_, index) => `display_name:absent-${index}`).join(" OR ");

export const searchMembers: RequestOf = (place, index) =>
  list(place, { filter: `${searches} OR name = "x-${index}"`, page_size: "1000" });

export const listMembers: RequestOf = (place) => list(place, { page_size: "1000" });

export const listOrdered: RequestOf = (place) => list(place, { page_size: "1000", order_by: "display_name,name desc" });

const invalid = once(() => ({
  requests: Array.from({ length: 1000 }, () => ({ member: { name: "No Name!", labels: { "Not A Key": "x" } } })),
}));

export const createInvalid: RequestOf = (place) =>
  send(place.hostileKey, `${api}/${orgOf(place)}/members:batchCreate`, invalid(place));

/** Near the limit of a body, with as many values as fit. */
const largest = once(() => ({ description: Array(250_000).fill(0) }));

export const largeBody: RequestOf = (place) => send(place.hostileKey, `${api}/${orgOf(place)}/members`, largest(place));

const oversized = once((place) => ({
  resource_path: `/${orgOf(place)}`,
  permissions: Array(250_000).fill("a"),
}));

export const testTooMany: RequestOf = (place) =>
  send(place.hostileKey, `${api}/access:testPermissions`, oversized(place));

const labels = once(() => ({
  name: "labelled",
  labels: Object.fromEntries(Array.from({ length: 76_000 }, (_, index) => [`k${index}`, ""])),
}));

export const labelTooMuch: RequestOf = (place) =>
  send(place.hostileKey, `${api}/${orgOf(place)}/members`, labels(place));

/** Of 1 MB, when it is decompressed. */
const nested = gzipSync(
  `{"refresh_token":[${Array(5_000)
    .fill("[".repeat(90) + "]".repeat(90))
    .join(",")}]}`,
);

export const refreshNested: RequestOf = () => ({
  method: "POST",
  path: `${api}/tokens:refresh`,
  headers: { "content-type": "application/json", "content-encoding": "gzip" },
  body: nested,
});

export const preview: RequestOf = (place) =>
  send(place.hostileKey, `${api}/${orgOf(place)}/roleBindings?validate_only=true`, {
    name: "previewed",
    role_path: "/roles/admin",
    subject_path: `/${orgOf(place)}/groups/everybody`,
  });

export const createMany: RequestOf = (place) =>
  send(place.hostileKey, `${api}/${orgOf(place)}/members:batchCreate`, {
    requests: Array.from({ length: 1000 }, () => ({ member: { name: `m-${randomUUID()}` } })),
  });

export const createOne: RequestOf = (place) =>
  send(place.hostileKey, `${api}/${orgOf(place)}/members`, { name: `m-${randomUUID()}` });

export const updateGroup: RequestOf = (place, index) =>
  send(
    place.hostileKey,
    `${api}/${orgOf(place)}/groups/group-${index % 8}`,
    { display_name: `Group ${index}` },
    "PATCH",
  );

export const getMember: RequestOf = (place, index) =>
  read(place.hostileKey, `${api}/${orgOf(place)}/members/member-${index % place.org.members}`);

export const getWithUnknownKey: RequestOf = (place, index) =>
  read(`${place.hostileKey.slice(0, -8)}${String(index).padStart(8, "0")}`, `${api}/${orgOf(place)}`);

/** The deadline ends at once, or before the key has been looked up if the service is busy. */
export const getBeyondDeadline: RequestOf = (place, index) => {
  const request = getWithUnknownKey(place, index);
  return { ...request, headers: { ...request.headers, "X-Server-Timeout": "0" } };
};

export const getUnknownPath: RequestOf = (_place, index) => ({
  method: "GET",
  path: `${api}/nothing/${index}`,
  headers: {},
});

export const probeHealth: RequestOf = (_place, index) => ({
  method: "GET",
  path: index % 2 === 0 ? "/healthz" : "/readyz",
  headers: {},
});

export const issueWithUnknownKey: RequestOf = (place, index) => ({
  method: "POST",
  path: "/oauth2/token",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: `grant_type=client_credentials&client_secret=${place.hostileKey.slice(0, -8)}${String(index).padStart(8, "0")}`,
});
