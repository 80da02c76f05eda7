// People come as a directory sends them: a POST for each, groups of a hundred of them, and a group of all, which grows by PATCH.
import { patch, scimOf, user } from "../../test/scim/scim-scene.ts";
import { type Place, inLanes, openOrg } from "./place.ts";

const lanes = 8;
const groupSize = 100;

export async function bringByScim(place: Place): Promise<number> {
  const { call, org } = await openOrg(place, "by-scim");
  await call(`${org}/members`, { name: "directory", type: "APPLICATION" });
  const memberPath = `/${org}/members/directory`;
  await call(`${org}/roleBindings`, { name: "directory", role_path: "/roles/provisioner", subject_path: memberPath });
  await call(`${org}/scimSources`, { name: "directory", member_path: memberPath });
  const expireTime = new Date(Date.now() + 86_400_000).toISOString();
  const { secret = "" } = await call(`${org}/members/directory/apiKeys`, { name: "scim", expire_time: expireTime });

  const scim = scimOf(place, `/${org}`, secret);
  let requests = 0;
  const send = async (method: string, path: string, body: object): Promise<string> => {
    requests++;
    const { status, body: answer } = await scim(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return String(answer.id);
  };
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:Group"];
  const everybody = await send("POST", "/Groups", { schemas, displayName: "Everybody" });
  const waiting: string[] = [];
  const group = async (size: number): Promise<void> => {
    const members = waiting.splice(0, size).map((value) => ({ value }));
    if (members.length === 0) return;
    await send("POST", "/Groups", { schemas, displayName: `Team ${members[0]?.value ?? ""}`, members });
    const addition = patch({ op: "add", path: "members", value: members });
    await send("PATCH", `/Groups/${everybody}?excludedAttributes=members`, addition);
  };
  await inLanes(lanes, place.people, async (number) => {
    const userName = `person-${number}@acme.example`;
    const emails = [{ value: userName, type: "work", primary: true }];
    const fields = { externalId: `00u${number}`, displayName: `Person ${number}`, emails };
    waiting.push(await send("POST", "/Users", user(userName, fields)));
    if (waiting.length >= groupSize) await group(groupSize);
  });
  await group(groupSize);
  return requests;
}
