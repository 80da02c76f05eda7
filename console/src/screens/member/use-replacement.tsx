import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type ApiKey, ApiKeysService } from "../../../../gen/iam/v1alpha/api_key_pb.ts";
import { nextName } from "../../calls/next-name.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import type { ManyAction } from "../../ui/many/many-action.ts";
import { OverlapField, readOverlap } from "../../ui/overlap-field.tsx";
import { readUntil, UntilField } from "../../ui/until-field.tsx";

const { keys: words } = secretTexts;

/**
 * Replaces several keys, one after the other.
 *
 * @param rows all keys of the member that are known.
 * @param onMade called with each new key, whose secret is returned only once.
 */
export function useReplacement(rows: readonly ApiKey[], onMade: (key: ApiKey) => void): ManyAction<ApiKey> {
  const keys = createClient(ApiKeysService, useTransport());
  const taken = new Set(rows.map(({ name }) => name));
  const replaced = new Set(rows.map(({ rotatedFromPath }) => rotatedFromPath.split("@").at(-1)));
  return {
    act: words.replace,
    done: words.replaced,
    intro: words.intro,
    lost: words.lost,
    permission: "iam.apiKeys.rotate",
    fits: ({ id }) => !replaced.has(id),
    fields: ["overlap", "expire_time"],
    form: (
      <>
        <OverlapField />
        <UntilField hint={words.untilHint} />
      </>
    ),
    run: {
      async each(row, form) {
        const name = nextName(row.name, taken);
        const { path, etag } = row;
        const made = await keys.rotateApiKey({ path, etag, name, overlap: readOverlap(form), ...endOf(row, form) });
        taken.add(made.name);
        onMade(made);
      },
    },
  };
}

/** Returns when a new key ends: at the time that was chosen, or after as long as the key before. */
function endOf({ createTime, expireTime }: ApiKey, form: FormData) {
  const chosen = readUntil(form);
  if (chosen.expireTime !== undefined || createTime === undefined || expireTime === undefined) return chosen;
  return { expireTime: timestampFromMs(Date.now() + timestampMs(expireTime) - timestampMs(createTime)) };
}
